// Who watched last, when the engine that starts is of another kind: each kind keeps a sign of life of its own, and knows
// nothing of the others'. What began between two kinds is counted and told as between two engines of one kind, and what a
// kind left behind long ago is no gap. decision: D51; invariant: I19
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../../machines/wire/parse.ts';
import type { EngineKind } from './choice.ts';
import {
  type Gap,
  gapSince,
  type LastWord,
  type Moment,
  momentOf,
  wordOf,
} from './tetragon/last-word.ts';
import { NO_LOSSES } from './tetragon/losses.ts';

/** What an engine left: how far it watched, and what it counted as lost and could not tell. */
export type Sign = { readonly kind: EngineKind; readonly word: LastWord; readonly owed: number };
export type KindGap = Gap & { readonly owed: number };

const NS_PER_MS = 1_000_000;
const PROCFS_SIGN =
  /^([0-9a-f-]{36}) (\d{1,15}) (\d{1,10}) (\d{1,15}) (\d{1,15}) ([01])\n(?:(\d{1,15})\n)?/;
/** Of the page beside the export, as `native/src/handover.c` lays it out. */
const PAGE = {
  ...{ magic: 0x31726576646e6168n, boot: 8, toldUntil: 48, signTime: 56, untold: 92 },
  ...{ forks: 4_024, lastPid: 4_032, signBoot: 4_040, signWall: 4_048, bytes: 4_056 },
};
const BOOT_ID_CHARS = 36;

/** What each kind left, of those that left anything. Never throws. */
export function readSigns(stateDir: string, exportFile: string): readonly Sign[] {
  const found = [
    tetragonSign(readOrNothing(tetragonFile(stateDir))),
    ebpfSign(readOrNothing(ebpfFile(exportFile))),
    procfsSign(readOrNothing(procfsFile(exportFile)).toString('latin1')),
  ];
  return found.filter((one) => one !== null);
}

/** Who watched last, when that was not this kind. When it was, what the others left is old, and removed. */
export function lastOfAnother(kind: EngineKind, stateDir: string, exportFile: string): Sign | null {
  const signs = readSigns(stateDir, exportFile);
  const last = signs.toSorted((a, b) => b.word.atMs - a.word.atMs)[0];
  if (last === undefined || last.kind !== kind) return last ?? null;
  for (const { kind: other } of signs) if (other !== kind) forget(other, stateDir, exportFile);
  return null;
}

/** An engine of any kind that starts now finds nothing that another left. Never throws. */
export function forgetSigns(stateDir: string, exportFile: string): void {
  for (const { kind } of readSigns(stateDir, exportFile)) forget(kind, stateDir, exportFile);
}

/** The gap up to now, when the engine that follows has begun to see. */
export async function gapBetween(
  { word, owed }: Sign,
  readMoment: () => Promise<Moment> = momentOf,
): Promise<KindGap> {
  const now = await readMoment();
  const ended = word.isOrdered ? 'stopped' : 'killed';
  return { ...gapSince({ ...word, how: word.boot === now.boot ? ended : 'rebooted' }, now), owed };
}

function forget(kind: EngineKind, stateDir: string, exportFile: string): void {
  try {
    if (kind !== 'ebpf') {
      rmSync(kind === 'procfs' ? procfsFile(exportFile) : tetragonFile(stateDir), { force: true });
      return;
    }
    // The file is a lock, too, and stays.
    const page = openSync(ebpfFile(exportFile), 'r+');
    writeSync(page, Buffer.alloc(8), 0, 8, 0);
    closeSync(page);
  } catch {} // It is none, or the disk refuses: a span is told that somebody watched.
}

function procfsSign(text: string): Sign | null {
  const [, boot, us, pid, forks, wallMs, ended, untold] = PROCFS_SIGN.exec(text) ?? [];
  if (boot === undefined) return null;
  return {
    kind: 'procfs',
    word: {
      ...{ boot, atMs: Number(wallMs), upMs: Math.round(Number(us) / 1_000) },
      ...{ pid: Number(pid), forks: Number(forks), isOrdered: ended === '1' },
      ...{ told: NO_LOSSES, more: null },
    },
    owed: Number(untold ?? 0),
  };
}

function ebpfSign(page: Buffer): Sign | null {
  if (page.length < PAGE.bytes || page.readBigUInt64LE(0) !== PAGE.magic) return null;
  const at = (offset: number): number => Number(page.readBigUInt64LE(offset));
  const [toldUntil, signTime] = [at(PAGE.toldUntil), at(PAGE.signTime)];
  const from = toldUntil || signTime;
  if (from === 0) return null;
  return {
    kind: 'ebpf',
    word: {
      boot: page.toString('latin1', PAGE.boot, PAGE.boot + BOOT_ID_CHARS),
      atMs: Math.round((at(PAGE.signWall) + from - at(PAGE.signBoot)) / NS_PER_MS),
      upMs: Math.round(from / NS_PER_MS),
      ...{ pid: at(PAGE.lastPid), forks: at(PAGE.forks), isOrdered: toldUntil > 0 },
      ...{ told: NO_LOSSES, more: null },
    },
    owed: page.readUInt32LE(PAGE.untold),
  };
}

function tetragonSign(text: Buffer): Sign | null {
  const parsed = parseJson(text.toString());
  const word = parsed.ok ? wordOf(parsed.value) : null;
  return word === null ? null : { kind: 'tetragon', word, owed: word.more ?? 0 };
}

function readOrNothing(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}

const procfsFile = (exportFile: string): string => `${exportFile}.sign`;
const ebpfFile = (exportFile: string): string => `${exportFile}.lock`;
/** Of the Tetragon that this Sensor starts. */
export const tetragonFile = (stateDir: string): string =>
  join(stateDir, 'engine', 'tetragon', 'last-word.json');
