// An engine that follows one of another kind. The gap between the two is on disk before the sign of the one before is gone,
// and stays until the Sensor has had time to store it: after a kill it may be counted twice, never not at all.
// decision: D51; invariant: I19
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import Type from 'typebox';
import { parserOf } from '../../machines/wire/parse.ts';
import type { EngineKind } from './choice.ts';
import type { EngineLaunch } from './engine-run.ts';
import { forgetOthers, gapBetween, type KindGap, takeOverFrom } from './last-watcher.ts';

/** Signs of life of the new engine, seconds apart; the first one is its hello. */
const SIGNS_UNTIL_STORED = 3;
const Count = Type.Integer({ minimum: 0 });
const Instant = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]{8,12}Z$' });
const GapSchema = Type.Object({
  ...{ since: Instant, until: Instant, how: Type.Enum(['killed', 'stopped', 'rebooted']) },
  ...{ ms: Count, unseen: Count, owed: Count, text: Type.String({ maxLength: 512 }) },
});
const parse = parserOf(GapSchema);

/** Makes what an engine of this kind is launched with, so that `onGap` hears of a change of the kind. */
export function createKindChanges(
  stateDir: string,
): (kind: EngineKind, asked: EngineLaunch) => EngineLaunch {
  /** Until of gaps that this Sensor was told of. */
  const told = new Set<string>();

  function tell(file: string, gap: KindGap | null, onGap: EngineLaunch['onGap']): void {
    const kept = readKept(file);
    if (gap !== null) keep(file, gap);
    for (const one of [kept, gap]) {
      if (one === null || told.has(one.until)) continue;
      told.add(one.until);
      onGap?.(one);
    }
  }

  return (kind, asked) => {
    const { exportFile, onGap } = asked;
    const file = `${exportFile}.gap`;
    const last = takeOverFrom(kind, stateDir, exportFile);
    if (last === null && readKept(file) === null) return asked;
    let signs = 0;
    return {
      ...asked,
      onLine(line) {
        signs += 1;
        if (signs === 1) {
          void Promise.resolve(last === null ? null : gapBetween(last)).then((gap) => {
            tell(file, gap, onGap);
            forgetOthers(kind, stateDir, exportFile);
          });
        } else if (signs === SIGNS_UNTIL_STORED) rmSync(file, { force: true });
        asked.onLine(line);
      },
    };
  };
}

function readKept(file: string): KindGap | null {
  try {
    const parsed = parse(readFileSync(file, 'utf8'));
    return parsed.ok ? parsed.value : null;
  } catch {
    return null;
  }
}

function keep(file: string, gap: KindGap): void {
  try {
    writeFileSync(file, JSON.stringify(gap), { mode: 0o600 });
  } catch {} // A full disk: it is told now, and lost only with a kill in the next seconds.
}
