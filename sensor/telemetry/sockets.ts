// Active TCP connections and listening services, as /proc/net shows them.
import { readFile } from 'node:fs/promises';
import { REPORTED_SOCKETS_MAX } from '../../machines/limits.ts';
import type { HeartbeatRequest } from '../../machines/wire/heartbeat.ts';

export type Sockets = Pick<HeartbeatRequest, 'connections' | 'listening_services'>;
const STATES: Readonly<Record<string, string>> = {
  '01': 'established',
  '02': 'syn_sent',
  '03': 'syn_received',
  '08': 'close_wait',
};
const LISTEN = '0A';

/** Reads both tables. Never rejects: an absent table is an empty one. */
export async function readSockets(): Promise<Sockets> {
  const texts = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'utf8').catch(() => '')),
  );
  return texts.map(parseTable).reduce((all, one) => ({
    connections: [...all.connections, ...one.connections].slice(0, REPORTED_SOCKETS_MAX),
    listening_services: [...all.listening_services, ...one.listening_services].slice(
      0,
      REPORTED_SOCKETS_MAX,
    ),
  }));
}

/** One table's text. Lines that do not fit are left out. */
export function parseTable(text: string): Sockets {
  const connections: Sockets['connections'] = [];
  const services: Sockets['listening_services'] = [];
  for (const line of text.split('\n').slice(1)) {
    const fields = line.trim().split(/\s+/);
    const local = placeOf(fields[1]);
    const remote = placeOf(fields[2]);
    const state = fields[3] ?? '';
    if (local === null || remote === null) continue;
    if (state === LISTEN) services.push({ protocol: 'tcp', ip: local.ip, port: local.port });
    else if (STATES[state] !== undefined) {
      connections.push({
        protocol: 'tcp',
        local_ip: local.ip,
        local_port: local.port,
        remote_ip: remote.ip,
        remote_port: remote.port,
        state: STATES[state],
      });
    }
  }
  return { connections, listening_services: services };
}

// The kernel writes each 32-bit word of an address in the machine's byte order.
function placeOf(text: string | undefined): { ip: string; port: number } | null {
  const [words = '', port = ''] = (text ?? '').split(':');
  if (!/^([0-9A-F]{8}|[0-9A-F]{32})$/.test(words) || !/^[0-9A-F]{4}$/.test(port)) return null;
  const bytes = (words.match(/.{8}/g) ?? []).flatMap((word) =>
    [...Buffer.from(word, 'hex')].reverse(),
  );
  return { ip: addressOf(bytes), port: Number.parseInt(port, 16) };
}

function addressOf(bytes: readonly number[]): string {
  if (bytes.length === 4) return bytes.join('.');
  const isMapped = bytes.slice(0, 10).every((one) => one === 0) && bytes[10] === 255;
  if (isMapped) return bytes.slice(12).join('.');
  const words = Array.from({ length: 8 }, (_, at) =>
    (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16),
  );
  const host = URL.parse(`http://[${words.join(':')}]`)?.hostname ?? words.join(':');
  return host.replaceAll(/[[\]]/g, '');
}
