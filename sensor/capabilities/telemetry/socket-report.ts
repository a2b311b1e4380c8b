// Connections and listening services in the heartbeat. A list whose hash the last answer named as stored does not travel
// again; whatever made the Console hold something else (a lost write, a restored database, another identity) shows in the
// next answer, after which the list travels whole. A Console that names no hashes always gets both. decision: D49
import type { SectionHashes } from '../../../machines/wire/heartbeat.ts';
import { sectionText } from '../../../machines/wire/inventory-text.ts';
import type { Sockets } from '../../telemetry/sockets.ts';
import { socketSections } from './section.ts';

const SECTIONS = ['listening_services', 'connections'] as const;

export type SocketReport = {
  /** Members of a heartbeat's body, as JSON text without its braces. */
  next(sockets: Sockets): string;
  /** Takes what an answer says is stored. */
  confirm(stored: SectionHashes | undefined): void;
};

/** Nothing is confirmed at first. */
export function createSocketReport(bytesMax?: number): SocketReport {
  let stored: SectionHashes = {};
  return {
    next(sockets) {
      const sections = socketSections(sockets, bytesMax);
      const members: string[] = [];
      const hashes: SectionHashes = {};
      const totals: Record<string, number> = {};
      for (const name of SECTIONS) {
        const { hash, items, total } = sections[name];
        hashes[name] = hash;
        if (stored[name] === hash) continue;
        members.push(`"${name}":${sectionText(items)}`);
        if (total !== undefined) totals[name] = total;
      }
      if (Object.keys(totals).length > 0) {
        members.push(`"section_totals":${JSON.stringify(totals)}`);
      }
      return [`"section_hashes":${JSON.stringify(hashes)}`, ...members].join(',');
    },
    confirm(now) {
      stored = now ?? {};
    },
  };
}
