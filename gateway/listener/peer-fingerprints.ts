// The fingerprint of a presented certificate, from its PEM text. Every request of every sensor asks for it, so results
// are remembered in a bounded map that forgets what was unused longest; the hot path is one look-up. invariant: I9, I10
import { createHash } from 'node:crypto';
import { PEER_FINGERPRINTS_CACHED_MAX } from '../../machines/limits.ts';

const ARMOR = /-----(?:BEGIN|END) CERTIFICATE-----/g;

export type PeerFingerprints = { fingerprintOf(pem: string): string | null };

/** Makes the memory; '' (no certificate shown) gives null. */
export function createPeerFingerprints(max = PEER_FINGERPRINTS_CACHED_MAX): PeerFingerprints {
  const known = new Map<string, string>();
  return {
    fingerprintOf(pem) {
      if (pem === '') return null;
      const found = known.get(pem);
      if (found !== undefined) {
        known.delete(pem);
        known.set(pem, found);
        return found;
      }
      const der = Buffer.from(pem.replaceAll(ARMOR, ''), 'base64');
      const made = createHash('sha256').update(der).digest('hex');
      known.set(pem, made);
      if (known.size > max) known.delete(known.keys().next().value ?? '');
      return made;
    },
  };
}
