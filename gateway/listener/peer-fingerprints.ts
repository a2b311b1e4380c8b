// The fingerprint of a presented certificate, from its PEM text. Every request of every sensor asks for it, so results
// are remembered in a bounded cache that forgets what was unused longest; the hot path is one look-up. decision: D47;
// invariant: I9, I10
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { PEER_FINGERPRINTS_CACHED_MAX } from '../../machines/limits.ts';

const ARMOR = /-----(?:BEGIN|END) CERTIFICATE-----/g;

export type PeerFingerprints = { fingerprintOf(pem: string): string | null };

/** Makes the memory; '' (no certificate shown) gives null. */
export function createPeerFingerprints(max = PEER_FINGERPRINTS_CACHED_MAX): PeerFingerprints {
  // Counted as sizes, so that room is taken as peers come and not for all of them at once.
  const known = new LRUCache<string, string>({ maxSize: max, sizeCalculation: () => 1 });
  return {
    fingerprintOf(pem) {
      if (pem === '') return null;
      const found = known.get(pem);
      if (found !== undefined) return found;
      const der = Buffer.from(pem.replaceAll(ARMOR, ''), 'base64');
      const made = createHash('sha256').update(der).digest('hex');
      known.set(pem, made);
      return made;
    },
  };
}
