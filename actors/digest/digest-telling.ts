// Tells people of days that did not arrive for sure, from the rows: neither a crash nor an inbox that is away leaves a day
// untold, and whoever takes over tells again what changes nothing. decision: D130, D156, D166
import type { Finding } from '../../machines/console/detection/finding.ts';
import { DIGEST_MISSED_MAX, DIGEST_TOLD_BACK_MS } from '../../machines/limits.ts';
import type { DigestRun, DigestStore } from '../../storage/ports/digest/digest-store.ts';
import type { Alerts } from '../detection/alerts.ts';
import type { Chance } from '../trust/chance.ts';
import { type DigestTrouble, digestAlertKey, findingOfDigest } from './digest-alerts.ts';

export type DigestTelling = {
  /** Each day once; what was told is over with the newest day, when that was sent. */
  tell(epoch: number): Promise<void>;
};
/** So many may end after another day began: they were missed, or waited meanwhile. */
const RUNS_TOLD_MAX = DIGEST_MISSED_MAX + 2;

/** Makes the memory of one Console. */
export function createDigestTelling(deps: {
  readonly digests: Pick<DigestStore, 'list' | 'runs'>;
  readonly alerts: Pick<Alerts, 'raise' | 'pass'>;
  readonly chance: Pick<Chance, 'newId'>;
  readonly now: () => number;
}): DigestTelling {
  const { digests, alerts, chance, now } = deps;
  let toldBefore: ReadonlySet<string> = new Set();
  return {
    async tell(epoch) {
      const told = new Set<string>();
      const findings: Finding[] = [];
      const over: string[] = [];
      const isNews = (run: DigestRun): boolean => {
        const name = `${run.digestId} ${run.day} ${run.state}`;
        told.add(name);
        return !toldBefore.has(name);
      };
      for (const { digestId, name, isOn } of await digests.list()) {
        if (!isOn) continue;
        const nowMs = now();
        const runs = await digests.runs({ digestId, limit: RUNS_TOLD_MAX });
        for (const run of runs.toReversed()) {
          const trouble = troubleOf({ ...run, name }, nowMs);
          if (trouble === null || !isNews(run)) continue;
          findings.push(findingOfDigest(trouble, { alertId: chance.newId(), nowMs }));
        }
        const [newest] = runs;
        if (newest?.state === 'sent' && isNews(newest)) over.push(digestAlertKey(digestId));
      }
      await alerts.raise(findings, epoch);
      await alerts.pass(over, epoch);
      toldBefore = told;
    },
  };
}

/** What people have to know of a run; null: nothing, or no more. */
function troubleOf(
  { state, endedAtMs, ...run }: DigestRun & Pick<DigestTrouble, 'name'>,
  nowMs: number,
): DigestTrouble | null {
  if (state !== 'failed' && state !== 'unsure' && state !== 'missed') return null;
  return endedAtMs === null || endedAtMs < nowMs - DIGEST_TOLD_BACK_MS ? null : { ...run, state };
}
