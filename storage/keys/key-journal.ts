// When keys of a data directory were made, changed and retired, in `journal.json` beside them. A data directory of before
// has none: everything in it is as old as nobody knows. decision: D70
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { ensurePrivateFolder, readIfPresent, writeFileDurably } from './key-files.ts';

const ENTRIES_MAX = 1_000;
const KEY_ID_CHARS = 16;
const FILE = 'journal.json';
const Journal = Type.Object({
  version: Type.Literal(1),
  /** Until when keys of older Sensors are taken; 0 = never were. */
  old_sensor_keys_until_ms: Type.Optional(Type.Number()),
  entries: Type.Array(
    Type.Object({
      key: Type.Enum(['ca', 'sealer', 'audit-checkpoint']),
      what: Type.Enum(['prepared', 'activated', 'rotated', 'retired']),
      at_ms: Type.Number(),
    }),
  ),
});
type Journal = Type.Static<typeof Journal>;
export type RotatedKey = Journal['entries'][number]['key'];
const check = Compile(Journal);

/** What names a key without telling it. */
export function keyIdOf(of: string, bytes: Uint8Array): string {
  return createHash('sha256').update(`${of}:`).update(bytes).digest('hex').slice(0, KEY_ID_CHARS);
}

/** Notes what happened to a key. */
export async function noteKey(
  folder: string,
  entry: Omit<Journal['entries'][number], 'at_ms'>,
  nowMs: number,
): Promise<void> {
  const journal = await readJournal(folder);
  const entries = [...journal.entries, { ...entry, at_ms: nowMs }].slice(-ENTRIES_MAX);
  await write(folder, { ...journal, entries });
}

/** When something last happened to a key; null when nobody noted it. */
export async function lastOf(
  folder: string,
  wanted: Omit<Journal['entries'][number], 'at_ms'>,
): Promise<number | null> {
  const { entries } = await readJournal(folder);
  const isIt = (one: Journal['entries'][number]) =>
    one.key === wanted.key && one.what === wanted.what;
  return entries.findLast(isIt)?.at_ms ?? null;
}

/**
 * Until when smaller keys of older Sensors are taken: one lifetime of a certificate from the first start that asks, and
 * never where the authority was made just now, since no older Sensor can know it. decision: D70
 */
export async function oldSensorKeysUntil(
  folder: string,
  facts: { readonly isNew: boolean; readonly nowMs: number; readonly lifetimeMs: number },
): Promise<number> {
  const journal = await readJournal(folder);
  const known = journal.old_sensor_keys_until_ms;
  if (known !== undefined && !facts.isNew) return known;
  const until = facts.isNew ? 0 : facts.nowMs + facts.lifetimeMs;
  await write(folder, { ...journal, old_sensor_keys_until_ms: until });
  return until;
}

async function readJournal(folder: string): Promise<Journal> {
  const file = join(folder, FILE);
  const text = await readIfPresent(file);
  if (text === undefined) return { version: 1, entries: [] };
  const value: unknown = JSON.parse(text);
  if (!check.Check(value))
    throw new Error(`${file} is no journal of keys; restore it or remove it`);
  return value;
}

async function write(folder: string, journal: Journal): Promise<void> {
  await ensurePrivateFolder(folder);
  await writeFileDurably(join(folder, FILE), JSON.stringify(journal));
}
