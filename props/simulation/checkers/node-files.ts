// What a node's disk says, read as an operator reads it: without the Sensor, whatever it is doing.
import { applyChange, depth, EMPTY_SPOOL } from '../../../machines/sensor/spool.rules.ts';
import { decodeLine } from '../../../sensor/spool/journal.ts';
import { createReplay, type RecoveredJournal } from '../../../sensor/spool/recovery.ts';
import { type SensorState, STATE_FILES } from '../../../sensor/state-directory/identity.ts';
import { backupsOf } from '../world/disk-export.ts';
import { type NodeHost, STATE_DIR } from '../world/node-host.ts';

const NEWLINE = 0x0a;
const KEY_TEXT = /"exec_id":"([^"]+)"/;

export type StatusText = {
  readonly state: string;
  /** The states of its statecharts by name. */
  readonly actors?: Readonly<Record<string, unknown>>;
  readonly clock_dispute?: string | null;
  readonly is_stream_open: boolean;
  readonly last_heartbeat_problem: string | null;
  readonly pipeline: Readonly<Record<string, number>>;
  readonly spool: {
    readonly depth: number;
    readonly discarded: number;
    readonly settled?: Readonly<Record<string, number>>;
  };
};
type Disk = Pick<NodeHost, 'disk'>;

function read({ disk }: Disk, name: string): Buffer | null {
  return disk.read(`${STATE_DIR}/${name}`);
}

function parsed(text: Buffer | null): unknown {
  try {
    return text === null ? null : JSON.parse(text.toString());
  } catch {
    return null; // torn by a crash; the next write replaces it
  }
}

/** The status file; null when there is none or a crash tore it. */
export function statusOf(node: Disk): StatusText | null {
  const value = parsed(read(node, 'run/status.json')) as Partial<StatusText> | null;
  return value?.spool === undefined || value.pipeline === undefined ? null : (value as StatusText);
}

/** sensor-state.json; null when there is none or it cannot be read. */
export function stateOf(node: Disk): SensorState | null {
  const value = parsed(read(node, STATE_FILES.state)) as Partial<SensorState> | null;
  return value?.sensor_id === undefined ? null : (value as SensorState);
}

function* linesOf(bytes: Buffer): Generator<readonly [line: Buffer, at: number, bytes: number]> {
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    yield [bytes.subarray(start, end), start, end + 1 - start];
    start = end + 1;
  }
}

export type HeldSpool = RecoveredJournal & {
  /** Keys of the events it holds, oldest first. */
  readonly keys: readonly string[];
};

/** The spool as a Sensor that starts now would recover it; null when there is no journal. */
export function spoolOf(node: Disk): HeldSpool | null {
  const bytes = read(node, STATE_FILES.spool);
  if (bytes === null) return null;
  const replay = createReplay();
  for (const [line, at, length] of linesOf(bytes)) replay.line(line, at, length);
  const recovered = replay.finish();
  const { spool, index } = recovered;
  const keys: string[] = [];
  for (let at = spool.head; at < spool.tail; at += 1) {
    if (spool.done.some((range) => range.from <= at && at < range.to)) continue;
    const place = index.get(at);
    if (place === null) continue;
    const text = bytes.toString('utf8', place.at, place.at + place.bytes);
    keys.push(KEY_TEXT.exec(text)?.[1] ?? '');
  }
  return { ...recovered, keys };
}

export type Drop = { readonly count: number; readonly depthAfter: number };

/** Every drop that the journal still shows, with the depth it left. */
export function dropsOf(node: Disk): readonly Drop[] {
  const drops: Drop[] = [];
  let spool = EMPTY_SPOOL;
  for (const [line] of linesOf(read(node, STATE_FILES.spool) ?? Buffer.alloc(0))) {
    const decoded = decodeLine(line);
    if (decoded.kind === 'header') spool = decoded.header.state;
    if (decoded.kind === 'change') spool = applyChange(spool, decoded.change);
    if (decoded.kind !== 'seal') continue;
    const { from, to, drop } = decoded.seal;
    if (from !== spool.tail) return []; // it began behind a lost line: nothing can be added up
    spool = applyChange(spool, { kind: 'append', count: to - from });
    spool = applyChange(spool, { kind: 'drop', count: drop });
    if (drop > 0) drops.push({ count: drop, depthAfter: depth(spool) });
  }
  return drops;
}

const EXPORT_FILE = `${STATE_DIR}/engine/export/events.log`;

export type ExportedKeys = {
  readonly inode: string;
  /** Each whole line's key with the byte behind the line. */
  readonly keys: ReadonlyMap<string, number>;
};

/** What the engine's export still holds, oldest file first. */
export function exportedKeysOf(node: Disk): readonly ExportedKeys[] {
  const { calls } = node.disk;
  return [...backupsOf(calls, EXPORT_FILE), EXPORT_FILE].flatMap((file) => {
    const [facts, bytes] = [calls.stat(file), node.disk.read(file)];
    if (facts === null || bytes === null) return [];
    const keys = new Map<string, number>();
    for (const [line, at, length] of linesOf(bytes)) {
      const key = KEY_TEXT.exec(line.toString())?.[1];
      if (key !== undefined) keys.set(key, at + length);
    }
    return [{ inode: String(facts.inode), keys }];
  });
}
