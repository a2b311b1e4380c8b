// Active TCP connections and listening services, as the tables of every network namespace show them (the Sensor's own first),
// with the program that holds each.
import { readFile } from 'node:fs/promises';
import { REPORTED_SOCKETS_MAX } from '../../machines/limits.ts';
import type { HeartbeatRequest } from '../../machines/wire/heartbeat.ts';
import { createNetworkNamespaces } from './network-namespaces.ts';
import { byTurns } from './shortened.ts';
import { createSocketOwners, type Owner } from './socket-owners.ts';

/** What the node has now; a total only of a list that is not whole: how many there are. */
export type Sockets = {
  readonly connections: readonly Connection[];
  readonly listening_services: readonly Service[];
  readonly totals?: { readonly connections?: number; readonly listening_services?: number };
};
export type Connection = NonNullable<HeartbeatRequest['connections']>[number];
export type Service = NonNullable<HeartbeatRequest['listening_services']>[number];

type Row = {
  readonly local: Place;
  readonly remote: Place;
  readonly state: string;
  readonly inode: string;
  /** Absent: the Sensor's own. */
  readonly networkNamespace?: string;
};
type Place = { readonly ip: string; readonly port: number };

const STATES: Readonly<Record<string, string>> = {
  '01': 'established',
  '02': 'syn_sent',
  '03': 'syn_received',
  '08': 'close_wait',
};
const LISTEN = '0A';
/** Without a file: a connection that nobody has accepted yet. */
const NO_INODE = '0';
/** Local end, other end, state and, six columns on, the inode. */
const ROW =
  /^ *\d+: ([0-9A-F]+):([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) ([0-9A-F]{2})(?: +\S+ +\S+ +\S+ +\d+ +\d+ +(\d+))?/gm;

/** A reader of all tables, each read once a look. It never rejects: an absent table is an empty one. */
export function createSocketReader(proc = '/proc'): () => Promise<Sockets> {
  const owners = createSocketOwners(proc);
  const namespaces = createNetworkNamespaces(proc);

  async function rowsOf(folder: string): Promise<readonly Row[]> {
    const texts = await Promise.all(
      ['tcp', 'tcp6'].map((name) => readFile(`${folder}/${name}`, 'latin1').catch(() => '')),
    );
    return texts.flatMap(parseTable);
  }

  return async () => {
    const rows = [...(await rowsOf(`${proc}/net`))];
    for (const { id, pid } of namespaces()) {
      for (const row of await rowsOf(`${proc}/${pid}/net`)) {
        rows.push({ ...row, networkNamespace: id });
      }
    }
    const inodes = rows.map(({ inode }) => inode).filter((inode) => inode !== NO_INODE);
    return socketsOf(rows, await owners.find(inodes));
  };
}

/** One table's text. Lines that do not fit, and states in which nothing flows, are left out. */
export function parseTable(text: string): readonly Row[] {
  const addresses = new Map<string, string | null>();
  const ipOf = (words: string): string | null => {
    const known = addresses.get(words);
    if (known !== undefined) return known;
    const ip = addressOf(words);
    addresses.set(words, ip);
    return ip;
  };
  const rows: Row[] = [];
  for (const [, here = '', ours = '', there = '', theirs = '', state = '', inode] of text.matchAll(
    ROW,
  )) {
    if (state !== LISTEN && STATES[state] === undefined) continue;
    const [local, remote] = [ipOf(here), ipOf(there)];
    if (local === null || remote === null) continue;
    rows.push({
      local: { ip: local, port: Number.parseInt(ours, 16) },
      remote: { ip: remote, port: Number.parseInt(theirs, 16) },
      state,
      inode: inode ?? NO_INODE,
    });
  }
  return rows;
}

/** Both lists, each shortened to its bound by turns of the programs. */
export function socketsOf(rows: readonly Row[], owners: ReadonlyMap<string, Owner>): Sockets {
  const connections: Connection[] = [];
  const services: Service[] = [];
  for (const { local, remote, state, inode, networkNamespace } of rows) {
    const within = networkNamespace === undefined ? {} : { network_namespace: networkNamespace };
    const about = { ...owners.get(inode), ...within };
    if (state === LISTEN) {
      services.push({ protocol: 'tcp', ip: local.ip, port: local.port, ...about });
    } else {
      connections.push({
        protocol: 'tcp',
        local_ip: local.ip,
        local_port: local.port,
        remote_ip: remote.ip,
        remote_port: remote.port,
        state: STATES[state] ?? state,
        ...about,
      });
    }
  }
  const totals = {
    ...totalOf('connections', connections),
    ...totalOf('listening_services', services),
  };
  return {
    connections: withinBound(connections),
    listening_services: withinBound(services),
    ...(Object.keys(totals).length === 0 ? {} : { totals }),
  };
}

/** Whose a socket is, when a list has to be shortened: the program's in its network namespace, in however many processes. */
export function ownerOfSocket(one: Connection | Service): string {
  return `${one.binary ?? one.pid ?? ''} ${one.network_namespace ?? ''}`;
}

function withinBound<Item extends Connection | Service>(all: readonly Item[]): readonly Item[] {
  return all.length <= REPORTED_SOCKETS_MAX
    ? all
    : byTurns(all, ownerOfSocket, REPORTED_SOCKETS_MAX);
}

function totalOf(name: string, { length }: { readonly length: number }): Record<string, number> {
  return length <= REPORTED_SOCKETS_MAX ? {} : { [name]: length };
}

// The kernel writes each 32-bit word of an address in the machine's byte order.
function addressOf(words: string): string | null {
  if (words.length !== 8 && words.length !== 32) return null;
  const bytes = (words.match(/.{8}/g) ?? []).flatMap((word) =>
    [...Buffer.from(word, 'hex')].reverse(),
  );
  if (bytes.length === 4) return bytes.join('.');
  const isMapped =
    bytes.slice(0, 10).every((one) => one === 0) && bytes[10] === 255 && bytes[11] === 255;
  if (isMapped) return bytes.slice(12).join('.');
  const groups = Array.from({ length: 8 }, (_, at) =>
    (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16),
  );
  const host = URL.parse(`http://[${groups.join(':')}]`)?.hostname ?? groups.join(':');
  return host.replaceAll(/[[\]]/g, '');
}
