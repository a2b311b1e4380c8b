// Detection: what people should know lies in the inbox, each thing once; rules find it in events. decision: D130, D131
import { createAlertSweep } from '../../../actors/detection/alert-sweep.ts';
import { type Alerts, createAlerts } from '../../../actors/detection/alerts.ts';
import { createCoverageWatch } from '../../../actors/detection/coverage-watch.ts';
import { createRuleEngine, type RuleEngine } from '../../../actors/detection/rule-engine.ts';
import { createLabelCache } from '../../../actors/detection/sensor-labels.ts';
import type { Loop } from '../../../actors/loops/loop.ts';
import { alertMachine } from '../../../machines/console/detection/alert.machine.ts';
import { FLEET_RULES_MS, RULES_LOOK_MS, RULES_WORK_MS } from '../../../machines/limits.ts';
import type { RulePause, RuleRow } from '../../../storage/ports/detection/rule-store.ts';
import type { Capability, ConsoleContext } from '../../capability.ts';
import { alertActRoutes } from '../../operator-plane/detection/alert-acts.ts';
import { measureAlerts } from '../../operator-plane/detection/alert-metrics.ts';
import { ruleRoutes } from '../../operator-plane/detection/alert-rules.ts';
import { alertRoutes } from '../../operator-plane/detection/alerts.ts';
import { createSearchTurns } from '../../operator-plane/telemetry/search-turns.ts';
import { fleet } from '../fleet/fleet.ts';
import { telemetry } from '../telemetry/telemetry.ts';

/** What other capabilities are given: where they hand over what they found. */
export type Detection = { readonly alerts: Alerts };
const RULES_LOOP = 'alert-rules';

export const detection: Capability<Detection> = {
  name: 'detection',
  open(context) {
    const { relational, analytics, time, chance, cursors } = context;
    const { alerts: store, alertRules: rules } = relational;
    const { events } = analytics;
    const alerts = createAlerts({ store, now: time.now });
    const { ingest } = context.use(telemetry);
    const labels = createLabelCache({ registry: relational.sensors, teams: relational.teams });
    const engine = createRuleEngine(
      {
        ...{ rules, events, alerts, inbox: store, chance, labelsOf: labels.of },
        horizon: relational.sinkFloors.horizon,
        ...{ now: time.now, monotonicNow: time.monotonicNow },
        pause: (row, why) => pause(context, row, why),
      },
      () => context.loops.wake(RULES_LOOP),
    );
    const coverage = createCoverageWatch({ alerts, chance, labelsOf: labels.of });
    // Matches have names, so that a batch that was judged before changes nothing.
    const following = [
      ingest.onStored((batch) => engine.take(batch)),
      ingest.onRepeated((batch) => engine.take(batch)),
      context.use(fleet).identities.onReread(engine.doubt),
    ];
    const sweep = createAlertSweep({ store, now: time.now });
    const searches = createSearchTurns();
    const routes = { store, rules, events, engine, chance, cursors, searches, now: time.now };
    return {
      service: { alerts },
      operatorRoutes: () => [
        alertRoutes(routes),
        alertActRoutes(routes),
        ruleRoutes({ ...routes, labelsOf: labels.of, time }),
      ],
      heartbeatParts: [
        { take: (identity, beat, nowMs) => coverage.note(identity, beat.loss, nowMs) },
      ],
      machines: [alertMachine],
      loops: () => [labels.loop, coverage.loop, ...loopsOf(engine), sweep.loop],
      measure: (registry) => measureAlerts(registry, sweep),
      close() {
        for (const stop of following) stop();
      },
    };
  },
};

async function pause(
  { relational, logger, time }: ConsoleContext,
  row: RuleRow,
  why: Pick<RulePause, 'reason' | 'detail'>,
): Promise<void> {
  const { ruleId, version } = row;
  logger.warn({ rule_id: ruleId, reason: why.reason }, 'an alert rule is paused');
  await relational.alertRules.pause({ ruleId, version, pause: { ...why, atMs: time.now() } });
}

function loopsOf(engine: RuleEngine): readonly Loop[] {
  return [
    {
      ...{ name: 'alert-rules-look', runsOn: 'process', everyMs: RULES_LOOK_MS },
      async run() {
        await engine.look();
        await engine.save();
        return undefined;
      },
    },
    {
      ...{ name: RULES_LOOP, runsOn: 'process', everyMs: RULES_WORK_MS },
      run: async () => ({ hasMore: await engine.work() }),
      glance: () => engine.hasWork(),
    },
    {
      name: 'fleet-rules',
      runsOn: 'designated',
      everyMs: FLEET_RULES_MS,
      async run({ epoch }) {
        await engine.workFleet(epoch);
        return undefined;
      },
      glance: () => engine.hasFleetRules(),
    },
  ];
}
