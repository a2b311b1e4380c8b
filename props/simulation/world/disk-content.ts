// What a file of a simulated disk holds: its content as processes see it, and how much of that a power loss would leave.
// Only appends and truncations happen to a file, so its certain part is always a beginning of it; whatever was there
// before an unsynced truncation is kept aside, since that may be what comes back.
import type { Random } from './random.ts';

type Hole = { readonly from: number; readonly to: number };

export type FileNode = {
  readonly kind: 'file';
  inode: number;
  mode: number;
  bytes: Buffer;
  length: number;
  /** So many first bytes survive a power loss for certain, once the truncation behind `before` has. */
  durable: number;
  /** What the file held before a truncation that may still be lost. */
  before: Buffer | null;
  beforeAtMs: number;
  /** Never reached the disk although a sync went over them; they read as zeros after a power loss. */
  holes: readonly Hole[];
  /** The mode before an unsynced change. */
  modeBefore: number | null;
  modeAtMs: number;
  /** The first `markLength` bytes were written at `markAtMs` or before. */
  markLength: number;
  markAtMs: number;
  writtenAtMs: number;
};

const CAPACITY_MIN_BYTES = 256;
const EMPTY = Buffer.alloc(0);

/** Makes an empty file. */
export function makeFile(inode: number, mode: number, nowMs: number): FileNode {
  return {
    kind: 'file',
    inode,
    mode,
    bytes: EMPTY,
    length: 0,
    durable: 0,
    before: null,
    beforeAtMs: 0,
    holes: [],
    modeBefore: null,
    modeAtMs: 0,
    markLength: 0,
    markAtMs: nowMs,
    writtenAtMs: nowMs,
  };
}

/** The kernel writes back on its own what is old enough. Called before each change, so it costs no timer. */
export function settle(file: FileNode, nowMs: number, writebackMs: number): void {
  if (file.modeBefore !== null && nowMs - file.modeAtMs >= writebackMs) file.modeBefore = null;
  if (nowMs - file.writtenAtMs >= writebackMs) {
    syncContent(file);
    file.markAtMs = nowMs;
  } else if (nowMs - file.markAtMs >= writebackMs) {
    file.durable = Math.max(file.durable, file.markLength);
    if (file.beforeAtMs <= file.markAtMs) file.before = null;
    file.markLength = file.length;
    file.markAtMs = nowMs;
  }
}

/** Adds bytes at the end; the caller has settled the file. */
export function appendContent(file: FileNode, bytes: Uint8Array, nowMs: number): void {
  reserve(file, file.length + bytes.byteLength);
  file.bytes.set(bytes, file.length);
  file.length += bytes.byteLength;
  file.writtenAtMs = nowMs;
}

/** Cuts the file, or lengthens it with zeros; the caller has settled it. */
export function truncateContent(file: FileNode, length: number, nowMs: number): void {
  if (length === file.length) return;
  file.writtenAtMs = nowMs;
  if (length > file.length) {
    reserve(file, length);
    file.bytes.fill(0, file.length, length);
    file.length = length;
    return;
  }
  if (file.before === null) {
    // Emptying hands the buffer over; anything else copies, which happens only when a torn tail is cut off.
    file.before = file.bytes.subarray(0, file.length);
    file.beforeAtMs = nowMs;
    file.bytes = length === 0 ? EMPTY : Buffer.from(file.before.subarray(0, length));
  }
  file.length = length;
  file.durable = Math.min(file.durable, length);
  file.markLength = Math.min(file.markLength, length);
  file.holes = file.holes.filter((hole) => hole.from < length);
}

/** Everything reaches the disk. */
export function syncContent(file: FileNode): void {
  file.durable = file.length;
  file.markLength = file.length;
  file.before = null;
}

/**
 * A sync that failed: what was not on the disk is there all the same, or only seems to be (processes go on seeing it and
 * a later sync has nothing to write), or is zeros from now on.
 */
export function loseSync(file: FileNode, random: Random): void {
  if (file.durable === file.length) return;
  const from = random.between(file.durable, file.length - 1);
  const how = random.pick(['kept', 'hidden', 'zeroed'] as const);
  if (how === 'hidden') file.holes = [...file.holes, { from, to: file.length }];
  if (how === 'zeroed') file.bytes.fill(0, from, file.length);
  file.durable = file.length;
}

/** What a power loss leaves; all of it is on the disk then. The caller has settled the file. */
export function surviveContent(file: FileNode, random: Random): void {
  if (file.modeBefore !== null && random.chance(0.5)) file.mode = file.modeBefore;
  file.modeBefore = null;
  if (file.before !== null && random.chance(0.5)) {
    file.bytes = Buffer.from(file.before);
    file.length = file.before.length;
  } else if (file.length > file.durable) {
    const how = random.next();
    const cut = random.between(file.durable, file.length);
    if (how < 0.3) file.length = file.durable;
    else if (how < 0.8) file.length = cut;
    // The length was written, the data was not.
    else if (how < 0.9) file.bytes.fill(0, cut, file.length);
  }
  for (const { from, to } of file.holes) file.bytes.fill(0, from, Math.min(to, file.length));
  file.holes = [];
  syncContent(file);
}

/** A copy of what processes see. */
export function contentOf(file: FileNode): Buffer {
  return Buffer.from(file.bytes.subarray(0, file.length));
}

/** Copies from a position as far as the file reaches. */
export function readContent(file: FileNode, into: Uint8Array, position: number): number {
  const count = Math.max(0, Math.min(into.byteLength, file.length - position));
  into.set(file.bytes.subarray(position, position + count));
  return count;
}

function reserve(file: FileNode, length: number): void {
  if (length <= file.bytes.length) return;
  const grown = Buffer.allocUnsafe(Math.max(CAPACITY_MIN_BYTES, length, 2 * file.bytes.length));
  file.bytes.copy(grown, 0, 0, file.length);
  file.bytes = grown;
}
