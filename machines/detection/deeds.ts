// What an event says about whose habits. A deed is one observation: of this program, in this respect, this value. Values
// are made coarse before they are remembered: directories instead of files, networks instead of addresses, no numbers.
import { BASELINE_TEXT_MAX_CHARS } from '../pipeline-limits.ts';
import type { RuntimeEvent } from '../wire/event.ts';

export const DIMENSIONS = ['children', 'files', 'destinations', 'users', 'hours'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

export type Deed = {
  readonly binary: string;
  readonly dimension: Dimension;
  readonly value: string;
};

const BINARY_MAX_CHARS = 512;
const DIRECTORIES_MAX = 4;
const NUMBERS = /[0-9a-f]{8,}|\d+/gi;

/** The observations in an event, in a fixed order; none for kinds that no baseline describes. */
export function deedsOf(event: RuntimeEvent, atMs: number): readonly Deed[] {
  const binary = binaryOf(event.process);
  if (binary === '') return [];
  switch (event.event_kind) {
    case 'process_exec':
    case 'process_burst':
      return startOf(event, binary, atMs);
    case 'file_open':
    case 'file_write':
      return event.file === undefined
        ? []
        : [{ binary, dimension: 'files', value: coarsePath(event.file.path) }];
    case 'network_connect':
      return destinationOf(event, binary);
    default:
      return [];
  }
}

function startOf(event: RuntimeEvent, binary: string, atMs: number): readonly Deed[] {
  const parent = binaryOf(event.parent);
  const uid = event.process?.uid;
  const deeds: Deed[] = [];
  if (parent !== '') deeds.push({ binary: parent, dimension: 'children', value: short(binary) });
  if (uid !== undefined) deeds.push({ binary, dimension: 'users', value: String(uid) });
  const hour = new Date(atMs).getUTCHours();
  deeds.push({ binary, dimension: 'hours', value: String(hour) });
  return deeds;
}

function destinationOf({ network }: RuntimeEvent, binary: string): readonly Deed[] {
  const { domain, destination_ip: ip, destination_port: port } = network ?? {};
  const where = domain ?? (ip === undefined ? undefined : coarseAddress(ip));
  if (where === undefined) return [];
  return [{ binary, dimension: 'destinations', value: short(`${where}:${port ?? ''}`) }];
}

/** A program's name in the baseline; '' for one that has none or whose name is absurdly long. */
function binaryOf(process: RuntimeEvent['process']): string {
  const binary = process?.binary ?? '';
  return binary.length > BINARY_MAX_CHARS ? '' : binary;
}

/** The directory, at most four deep, with numbers that change from run to run taken out. */
function coarsePath(path: string): string {
  const directory = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  const parts = directory.replace(NUMBERS, '#').split('/');
  return short(parts.slice(0, DIRECTORIES_MAX + 1).join('/') || '/');
}

/** The network of an address: a neighbour is no surprise. */
function coarseAddress(ip: string): string {
  if (/^\d+\.\d+\.\d+\.\d+$/.test(ip)) return `${ip.slice(0, ip.lastIndexOf('.'))}.0/24`;
  return ip.split(':').slice(0, 4).join(':');
}

/** Cut where no character is halved. */
function short(value: string): string {
  if (value.length <= BASELINE_TEXT_MAX_CHARS) return value.toWellFormed();
  const last = value.charCodeAt(BASELINE_TEXT_MAX_CHARS - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return value.slice(0, BASELINE_TEXT_MAX_CHARS - (isHalf ? 1 : 0)).toWellFormed();
}
