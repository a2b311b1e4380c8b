// The export a simulated engine writes: rotated by size, pruned beyond some backups, never synced. It remembers where
// each key's line stands, to tell the checkers which were pruned and which a power loss took. Each file begins with a head,
// as those of the real engines do.
import path from 'node:path';
import { EXPORT_LINE_MAX_BYTES } from '../../../machines/limits.ts';
import { isExportHead, parseExportHead } from '../../../sensor/engine/export-head.ts';
import { cutLines } from '../../../sensor/engine/export-lines.ts';
import type { SimulatedDisk } from './disk.ts';
import { backupsOf } from './disk-export.ts';
import type { EngineLine } from './engine-lines.ts';
import type { World } from './world.ts';

type Placed = { readonly key: string; readonly end: number };
export type EngineExport = {
  /** Opens the export for one process of the engine. Throws as the disk does. */
  open(file: string): EngineOutput;
  /** Tells which lines are no longer on the disk after a power loss or a wipe. */
  settle(): void;
};
/** One process's way to the export. */
export type EngineOutput = {
  /** Writes whole lines; answers how many were lost because the disk refused. */
  write(lines: readonly EngineLine[]): number;
  /** Writes a part of a line; the rest comes first in the next write. */
  writeHalf(line: EngineLine, bytes: number): void;
  /** Writes what is no event. */
  writeRaw(text: string): void;
  rotate(): void;
};

const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);
type Standing = { readonly lines: number; readonly run: string; readonly beforeRun: number };

export function createEngineExport(
  world: World,
  options: {
    readonly node: string;
    readonly disk: SimulatedDisk;
    readonly wallNow: () => number;
    readonly rotateBytes: number;
    readonly backupsMax: number;
  },
): EngineExport {
  const { node, disk, wallNow, rotateBytes, backupsMax } = options;
  const { calls } = disk;
  const placed = new Map<number, Placed[]>();
  const pruned = new Set<number>();
  /** Lines that are whole but for their newline, by inode. */
  const unended = new Map<number, Placed>();
  let boots = 1;

  /** What was written up to now, as the newest file that holds something tells it. */
  function standing(live: string): Standing {
    for (const file of [live, ...[...backupsOf(calls, live)].reverse()]) {
      const bytes = disk.readInode(calls.stat(file)?.inode ?? -1);
      if (bytes === null || bytes.length === 0) continue;
      const head = parseExportHead(bytes.toString('latin1', 0, bytes.indexOf(NEWLINE)));
      const cut = cutLines(bytes, Infinity, EXPORT_LINE_MAX_BYTES);
      const tail = cut.consumed < bytes.length ? 1 : 0;
      const own = cut.lines.length + cut.tooLong + cut.malformed + tail;
      const { linesBefore = 0, run = '', linesBeforeRun = 0 } = head ?? {};
      return { lines: linesBefore + own, run, beforeRun: linesBeforeRun };
    }
    return { lines: 0, run: '', beforeRun: 0 };
  }

  function place(inode: number, lines: readonly Placed[]): void {
    if (lines.length === 0) return;
    const events = lines.map(({ key }) => key);
    world.observe({ kind: 'engine.wrote', node, events });
    const here = placed.get(inode);
    // A process that still writes into a file that was pruned writes for nobody; into one that was rotated by another, for a
    // reader that comes in time.
    if (pruned.has(inode)) world.observe({ kind: 'engine.rotated', node, removed: events });
    else if (here === undefined) placed.set(inode, [...lines]);
    else here.push(...lines);
  }

  function open(file: string): EngineOutput {
    calls.makeDirectory(path.dirname(file), 0o700);
    let handle = calls.open(file, 'append', 0o600);
    let held: { readonly line: EngineLine; readonly rest: Buffer; readonly at: number } | null =
      null;

    const begun = joinRun();

    function joinRun(): { readonly run: string; readonly beforeRun: number } {
      const last = standing(file);
      const run = `${node} ${boots}`;
      return last.run === run ? last : { run, beforeRun: last.lines };
    }

    /** What goes before the first bytes of a file. */
    function head(): Buffer {
      if (handle.size() > 0) return NOTHING;
      const lines = Math.max(standing(file).lines, begun.beforeRun);
      const [lines_before, lines_before_run] = [String(lines), String(begun.beforeRun)];
      const info = { lines_before, run: begun.run, lines_before_run };
      return Buffer.from(`${JSON.stringify({ export_info: info })}\n`);
    }

    /** Appends; a file that did not get its whole head is empty again. */
    function append(bytes: Buffer): void {
      const first = head();
      const before = handle.size();
      try {
        handle.append(Buffer.concat([first, bytes]));
      } catch (error) {
        if (handle.size() > before)
          world.observe({ kind: 'engine.noise', node, lines: 1, late: 0 });
        if (handle.size() < first.length) handle.truncate(0);
        throw error;
      }
    }

    /** Lines that are no events, or that stand where no head counts them. */
    function tellNoise(lines: number, events = lines): void {
      const late = calls.stat(file)?.inode === handle.inode ? 0 : events;
      if (lines + late > 0) world.observe({ kind: 'engine.noise', node, lines, late });
    }

    /** Ends what a crash or a full disk tore, whoever wrote it. */
    function endTornLine(): void {
      const size = handle.size();
      const last = Buffer.alloc(1);
      if (size === 0 || handle.read(last, size - 1) === 0 || last[0] === NEWLINE) return;
      const bytes = disk.readInode(handle.inode) ?? NOTHING;
      if (isExportHead(bytes, 0) && !bytes.includes(NEWLINE)) {
        handle.truncate(0);
        return;
      }
      handle.append(Buffer.from('\n'));
      const line = unended.get(handle.inode);
      unended.delete(handle.inode);
      if (line?.end === size + 1) place(handle.inode, [line]);
    }

    /** Appends and tells of the lines that are whole; answers how many are not. */
    function put(lines: readonly EngineLine[], firstAt: number, bytes: Buffer): number {
      const { inode } = handle;
      let end = firstAt + head().length;
      const ends = lines.map(({ key, text }) => {
        end += Buffer.byteLength(text);
        return { key, end };
      });
      let isWhole = true;
      try {
        append(bytes);
      } catch {
        isWhole = false;
      }
      const size = handle.size();
      const done = isWhole ? ends : ends.filter((line) => line.end <= size);
      place(inode, done);
      const next = ends[done.length];
      if (next !== undefined && next.end === size + 1) unended.set(inode, next);
      return ends.length - done.length;
    }

    function finishHeld(): void {
      if (held === null) return;
      const { line, rest, at } = held;
      held = null;
      if (handle.size() !== at) return; // another process wrote behind it: the line is torn for good
      put([line], at + rest.length - Buffer.byteLength(line.text), rest);
    }

    function rotate(): void {
      finishHeld();
      if (handle.size() === 0) return; // no engine rotates an empty file
      calls.rename(file, backupName(file));
      handle.close();
      handle = calls.open(file, 'append', 0o600);
      for (const old of backupsOf(calls, file).slice(0, -backupsMax)) {
        const inode = calls.stat(old)?.inode ?? -1;
        calls.remove(old);
        const removed = (placed.get(inode) ?? []).map(({ key }) => key);
        placed.delete(inode);
        pruned.add(inode);
        world.observe({ kind: 'engine.rotated', node, removed });
      }
    }

    function makeRoom(bytes: number): void {
      const size = handle.size();
      if (size > 0 && size + bytes > rotateBytes) rotate();
    }

    endTornLine();
    return {
      write(lines) {
        try {
          finishHeld();
          endTornLine();
          const bytes = Buffer.from(lines.map(({ text }) => text).join(''));
          makeRoom(bytes.length);
          tellNoise(0, lines.length);
          return put(lines, handle.size(), bytes);
        } catch {
          return lines.length;
        }
      },
      writeHalf(line, bytes) {
        try {
          finishHeld();
          endTornLine();
          const whole = Buffer.from(line.text);
          const cut = Math.max(1, Math.min(bytes, whole.length - 2));
          tellNoise(1);
          append(whole.subarray(0, cut));
          held = { line, rest: whole.subarray(cut), at: handle.size() };
        } catch {
          held = null;
        }
      },
      writeRaw(text) {
        try {
          finishHeld();
          endTornLine();
          tellNoise(text.split('\n').length);
          append(Buffer.from(text));
        } catch {
          // Nothing of it counts.
        }
      },
      rotate() {
        try {
          rotate();
        } catch {
          // The disk refuses; the file goes on under its name.
        }
      },
    };
  }

  /** A name after all names there are, also when the clock was set back: their order is the order of the files. */
  function backupName(file: string): string {
    const { dir, name, ext } = path.parse(file);
    const named = (ms: number): string => {
      const time = new Date(ms).toISOString().slice(0, 23).replaceAll(':', '-');
      return path.join(dir, `${name}-${time}${ext}`);
    };
    const newest = backupsOf(calls, file).at(-1) ?? '';
    let at = wallNow();
    if (named(at) <= newest) {
      const time = newest.slice(-ext.length - 23, -ext.length);
      at = Date.parse(`${time.slice(0, 11)}${time.slice(11).replaceAll('-', ':')}Z`) + 1;
    }
    return named(at);
  }

  return {
    open,
    settle() {
      boots += 1;
      const events: string[] = [];
      unended.clear();
      for (const [inode, lines] of placed) {
        const content = disk.readInode(inode);
        const kept =
          content === null ? [] : lines.filter(({ end }) => content[end - 1] === NEWLINE);
        if (kept.length === lines.length) continue;
        const survivors = new Set(kept);
        events.push(...lines.filter((line) => !survivors.has(line)).map(({ key }) => key));
        if (kept.length === 0) placed.delete(inode);
        else placed.set(inode, kept);
      }
      if (events.length > 0) world.observe({ kind: 'export.lost', node, events });
    },
  };
}
