// An engine that follows one of another kind. What the one before left is taken into a file of its own before the new one
// starts; from then on the gap is owed, whatever is killed, until the Sensor has had time to store it: it may be counted
// twice then, or up to a later start, never not at all. decision: D51; invariant: I19
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import Type from 'typebox';
import { parserOf } from '../../machines/wire/parse.ts';
import type { EngineKind } from './choice.ts';
import type { EngineLaunch } from './engine-run.ts';
import { forgetSigns, gapBetween, type KindGap, lastOfAnother, type Sign } from './last-watcher.ts';

/** Signs of life of the new engine, seconds apart; the first one is its hello. */
const SIGNS_UNTIL_STORED = 3;
/** Of engines that change again and again within those seconds the last ones are kept. */
const GAPS_MAX = 16;
const Count = Type.Integer({ minimum: 0 });
const Instant = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]{8,12}Z$' });
const Losses = Type.Object({ inKernel: Count, inProgram: Count });
const OwedSchema = Type.Object({
  sign: Type.Optional(
    Type.Object({
      kind: Type.Enum(['tetragon', 'ebpf', 'procfs']),
      word: Type.Object({
        ...{ boot: Type.String({ maxLength: 64 }), atMs: Count, pid: Count, forks: Count },
        upMs: Type.Union([Count, Type.Null()]),
        ...{ told: Losses, more: Type.Union([Count, Type.Null()]), isOrdered: Type.Boolean() },
      }),
      owed: Count,
    }),
  ),
  gaps: Type.Array(
    Type.Object({
      ...{ since: Instant, until: Instant, how: Type.Enum(['killed', 'stopped', 'rebooted']) },
      ...{ ms: Count, unseen: Count, owed: Count, text: Type.String({ maxLength: 512 }) },
    }),
    { maxItems: GAPS_MAX },
  ),
});
const parse = parserOf(OwedSchema);
/** What one of another kind left, until the new one sees; and gaps that may not be stored yet. */
type Owed = { readonly sign?: Sign | undefined; readonly gaps: readonly KindGap[] };
const NOTHING: Owed = { gaps: [] };

/** Makes what an engine of this kind is launched with, so that `onGap` hears of a change of the kind. */
export function createKindChanges(
  stateDir: string,
): (kind: EngineKind, asked: EngineLaunch) => EngineLaunch {
  /** Until of gaps that this Sensor was told of. */
  const told = new Set<string>();

  function tell(gap: KindGap, onGap: EngineLaunch['onGap']): void {
    if (told.has(gap.until)) return;
    told.add(gap.until);
    onGap?.(gap);
  }

  return (kind, asked) => {
    const { exportFile, onGap } = asked;
    const file = `${exportFile}.gap`;
    const before = readOwed(file);
    const last = lastOfAnother(kind, stateDir, exportFile);
    // One that never said hello watched nothing: the gap goes on.
    const sign = before.sign ?? last ?? undefined;
    const { gaps } = before;
    if (last !== null && keepOwed(file, { sign, gaps })) forgetSigns(stateDir, exportFile);
    if (sign === undefined && gaps.length === 0) return asked;
    let signs = 0;
    return {
      ...asked,
      onLine(line) {
        signs += 1;
        if (signs === 1) void begin();
        else if (signs === SIGNS_UNTIL_STORED) settle(file);
        asked.onLine(line);
      },
    };

    async function begin(): Promise<void> {
      for (const gap of gaps) tell(gap, onGap);
      if (sign === undefined) return;
      const gap = await gapBetween(sign);
      keepOwed(file, { gaps: [...gaps, gap].slice(-GAPS_MAX) });
      tell(gap, onGap);
    }
  };
}

function readOwed(file: string): Owed {
  try {
    const parsed = parse(readFileSync(file, 'utf8'));
    return parsed.ok ? parsed.value : NOTHING;
  } catch {
    return NOTHING;
  }
}

/** False where the disk refuses; then what the one before left stays where it is. */
function keepOwed(file: string, owed: Owed): boolean {
  try {
    writeFileSync(`${file}.new`, JSON.stringify(owed), { mode: 0o600 });
    renameSync(`${file}.new`, file);
    return true;
  } catch {
    return false;
  }
}

/** The spool has had time to store it. */
function settle(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {} // A disk that refuses: it is counted once more at the next start.
}
