// Looks at the analytics database every half minute: each Console at its own way to it, and the designated one tells people.
// decision: D60, D155
import { createActor, type SnapshotFrom } from 'xstate';
import { type Alert, OF_FLEET } from '../../machines/console/delivery/alert.ts';
import { findingOf } from '../../machines/console/detection/finding.ts';
import {
  type AnalyticsHealthStateName,
  analyticsHealthMachine,
} from '../../machines/console/telemetry/analytics-health.machine.ts';
import {
  type AnalyticsReading,
  FINDING_WORDS,
} from '../../machines/console/telemetry/analytics-health.rules.ts';
import { ANALYTICS_LOOK_MS } from '../../machines/limits.ts';
import type {
  AnalyticsFacts,
  AnalyticsHealth,
} from '../../storage/ports/telemetry/analytics-health.ts';
import type { Alerts } from '../detection/alerts.ts';
import { type DesignatedLoop, processLoop, type UpkeepLoop } from '../loops/loop.ts';
import type { Logger } from '../runtime/logger.ts';
import type { WheelClock } from '../runtime/wheel-clock.ts';
import type { Chance } from '../trust/chance.ts';

type Snapshot = SnapshotFrom<typeof analyticsHealthMachine>;
export type AnalyticsWatch = {
  /** Looks, on every Console. */
  readonly look: UpkeepLoop;
  /** Tells people what changed, on one. */
  readonly tell: DesignatedLoop;
  snapshot(): Snapshot;
  sinceMs(): number;
};
type AnalyticsWatchDeps = {
  readonly health: AnalyticsHealth;
  readonly queuedRows: () => number;
  readonly clock: WheelClock;
  readonly alerts: Pick<Alerts, 'raise' | 'pass'>;
  readonly chance: Pick<Chance, 'newId'>;
  readonly logger: Logger;
  readonly now: () => number;
  readonly monotonicNow: () => number;
};
/** One alert, told again with every change, over when all is well. */
const DEDUP_KEY = 'analytics';
const NOTHING: AnalyticsFacts = {
  ...{ parts: null, partsMost: null, merges: null, longestMergeMs: null },
  ...{ diskFreeBytes: null, diskTotalBytes: null },
};

/** Makes the watch. */
export function createAnalyticsWatch(deps: AnalyticsWatchDeps): AnalyticsWatch {
  const { health, logger } = deps;
  const actor = createActor(analyticsHealthMachine, { clock: deps.clock });
  actor.subscribe({ error: (error) => logger.error({ error: String(error) }, 'a watch broke') });
  actor.start();
  let sinceMs = deps.now();

  async function timed(run: () => Promise<unknown>): Promise<number | null> {
    const beganMs = deps.monotonicNow();
    try {
      await run();
      return Math.max(0, Math.round(deps.monotonicNow() - beganMs));
    } catch {
      return null;
    }
  }

  async function read(): Promise<AnalyticsReading> {
    const atMs = deps.now();
    const queuedRows = deps.queuedRows();
    const pingMs = await timed(() => health.ping());
    if (pingMs === null) {
      return { atMs, queuedRows, pingMs, insertMs: null, queryMs: null, ...NOTHING };
    }
    const insertMs = await timed(() => health.insert(atMs));
    const queryMs = await timed(() => health.query());
    const facts = await health.facts().catch(() => NOTHING);
    return { atMs, queuedRows, pingMs, insertMs, queryMs, ...facts };
  }

  return {
    look: processLoop('analytics-look', ANALYTICS_LOOK_MS, async () => {
      const before = actor.getSnapshot().value;
      actor.send({ type: 'store.looked', reading: await read() });
      const { value, context } = actor.getSnapshot();
      if (value === before) return;
      sinceMs = deps.now();
      const facts = { state: value, findings: context.findings };
      if (value === 'healthy') logger.info(facts, 'the analytics database is healthy');
      else logger.warn(facts, 'the analytics database is not healthy');
    }),
    tell: tellingLoop(deps, () => actor.getSnapshot()),
    snapshot: () => actor.getSnapshot(),
    sinceMs: () => sinceMs,
  };
}

function tellingLoop(
  deps: Pick<AnalyticsWatchDeps, 'alerts' | 'chance' | 'now'>,
  snapshot: () => Snapshot,
): DesignatedLoop {
  let told: AnalyticsHealthStateName = 'healthy';
  let tenure: number | null = null;
  return {
    name: 'analytics-health-monitoring',
    runsOn: 'designated',
    everyMs: ANALYTICS_LOOK_MS,
    async run({ epoch }) {
      const { value, context } = snapshot();
      if (value === 'unknown') return undefined;
      // Whoever was designated before may have told people, and died before it was over.
      const isNew = tenure !== epoch;
      tenure = epoch;
      const isChanged = value !== told;
      if (isChanged) {
        const alert = alertOf({ state: value, findings: context.findings }, deps);
        const occurrence = `${value}/${alert.occurredAtMs}`;
        await deps.alerts.raise([findingOf(alert, occurrence, { isToldAgain: true })], epoch);
      }
      if (value === 'healthy' && (isNew || isChanged)) await deps.alerts.pass([DEDUP_KEY], epoch);
      told = value;
      return undefined;
    },
  };
}

const HEADLINES = {
  healthy: 'The analytics database is healthy again',
  degraded: 'The analytics database needs somebody',
  away: 'The analytics database does not work',
} as const;
const SEVERITIES = { healthy: 'info', degraded: 'high', away: 'critical' } as const;

function alertOf(
  of: {
    readonly state: Exclude<AnalyticsHealthStateName, 'unknown'>;
    readonly findings: readonly (keyof typeof FINDING_WORDS)[];
  },
  { chance, now }: { readonly chance: Pick<Chance, 'newId'>; readonly now: () => number },
): Alert {
  const { state, findings } = of;
  const why = findings.map((one) => FINDING_WORDS[one]).join(' ');
  return {
    ...OF_FLEET,
    ...{ alertId: chance.newId(), kind: 'analytics_unhealthy', severity: SEVERITIES[state] },
    ruleId: 'analytics_unhealthy',
    ...{
      headline: HEADLINES[state],
      detail: why === '' ? 'Everything that was wrong is over.' : why,
    },
    ...{ occurredAtMs: now(), source: 'system', dedupKey: DEDUP_KEY },
  };
}
