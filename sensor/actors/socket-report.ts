// Connections and listening services in the heartbeat. A list whose hash the last answer named as stored does not travel
// again; whatever made the Console hold something else (a lost write, a restored database, another identity) shows in the
// next answer, after which the list travels whole. A Console that names no hashes always gets both. decision: D49
import { createHash } from 'node:crypto';
import { HEARTBEAT_BODY_MAX_BYTES } from '../../machines/limits.ts';
import type { SectionHashes } from '../../machines/wire/heartbeat.ts';
import { distinctItems } from '../../machines/wire/inventory-text.ts';
import type { Connection, Service, Sockets } from '../telemetry/sockets.ts';

/** Events may take half of a body. */
const LISTS_MAX_BYTES = HEARTBEAT_BODY_MAX_BYTES / 4;
const SECTIONS = ['listening_services', 'connections'] as const;

export type SocketReport = {
  /** Members of a heartbeat's body, as JSON text without its braces. */
  next(sockets: Sockets): string;
  /** Takes what an answer says is stored. */
  confirm(stored: SectionHashes | undefined): void;
};

/** Nothing is confirmed at first. */
export function createSocketReport(bytesMax: number = LISTS_MAX_BYTES): SocketReport {
  let stored: SectionHashes = {};
  return {
    next(sockets) {
      const members: string[] = [];
      const hashes: SectionHashes = {};
      let left = bytesMax;
      for (const name of SECTIONS) {
        const texts = within(left, stableTexts(sockets[name]));
        const list = `[${texts.join(',')}]`;
        left -= Buffer.byteLength(list);
        hashes[name] = createHash('sha256').update(list).digest('hex');
        if (stored[name] !== hashes[name]) members.push(`"${name}":${list}`);
      }
      return [`"section_hashes":${JSON.stringify(hashes)}`, ...members].join(',');
    },
    confirm(now) {
      stored = now ?? {};
    },
  };
}

/** The canonical text of each, sorted and once: the order in which the kernel lists them is no change. */
function stableTexts(items: Sockets[keyof Sockets]): readonly string[] {
  return [...distinctItems<Connection | Service>(items).keys()];
}

/** As many as fit. */
function within(bytes: number, texts: readonly string[]): readonly string[] {
  let used = 2;
  const end = texts.findIndex((text) => {
    used += Buffer.byteLength(text) + 1;
    return used > bytes;
  });
  return end < 0 ? texts : texts.slice(0, end);
}
