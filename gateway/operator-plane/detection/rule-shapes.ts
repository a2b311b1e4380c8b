// Alert rules as they are told.
import Type from 'typebox';
import type { BacktestResult } from '../../../actors/detection/backtest.ts';
import type { RuleCost } from '../../../actors/detection/running-rule.ts';
import { RuleSpec } from '../../../machines/detection/rule-spec.ts';
import type { RuleRow, RuleVersion } from '../../../storage/ports/detection/rule-store.ts';
import { Nullable, Time } from '../plumbing/shapes.ts';
import { timeText } from '../plumbing/time-range.ts';
import { EventItem } from '../telemetry/events.ts';

export const AlertRule = Type.Object({
  rule_id: Type.String(),
  version: Type.Integer(),
  spec: RuleSpec,
  is_running: Type.Boolean({ description: 'on this Console' }),
  pause: Nullable(
    Type.Object(
      {
        reason: Type.String({
          description: 'too_costly, too_many_matches, too_many_alerts or failed',
        }),
        detail: Type.String(),
        at: Time,
      },
      { description: 'the Console paused it; a change runs it again' },
    ),
  ),
  cost: Nullable(
    Type.Object({
      events: Type.Integer(),
      cpu_ms: Type.Number(),
      ns_per_event: Type.Number(),
      core_ratio: Type.Number(),
    }),
  ),
  live_alerts: Type.Integer(),
  created_at: Time,
  changed_at: Time,
  changed_by: Type.String(),
});
export type AlertRule = Type.Static<typeof AlertRule>;
export const AlertRuleWithVersions = Type.Object({
  rule: AlertRule,
  versions: Type.Array(
    Type.Object({ version: Type.Integer(), spec: RuleSpec, at: Time, actor: Type.String() }),
  ),
});
export type AlertRuleWithVersions = Type.Static<typeof AlertRuleWithVersions>;

export const Backtest = Type.Object({
  from: Time,
  to: Time,
  findings: Type.Integer({ description: 'how often it would have found something' }),
  matched_events: Type.Integer(),
  alerts: Type.Integer({ description: 'alerts, when nobody resolves one' }),
  sensors: Type.Array(Type.Object({ sensor_id: Type.String(), findings: Type.Integer() })),
  bars: Type.Array(Type.Object({ from: Time, findings: Type.Integer() })),
  samples: Type.Array(
    Type.Object({
      sensor_id: Type.String(),
      group: Type.Record(Type.String(), Type.String()),
      event_ids: Type.Array(Type.String()),
      event: EventItem,
    }),
  ),
  judged_events: Type.Integer(),
  is_truncated: Type.Boolean(),
  took_ms: Type.Number(),
  cost_ms: Type.Number(),
});
export type Backtest = Type.Static<typeof Backtest>;

export function ruleView(
  row: RuleRow,
  { cost, live }: { readonly cost: RuleCost | undefined; readonly live: number },
): AlertRule {
  return {
    rule_id: row.ruleId,
    version: row.version,
    spec: row.spec,
    is_running: cost !== undefined,
    pause:
      row.pause === null
        ? null
        : { reason: row.pause.reason, detail: row.pause.detail, at: timeText(row.pause.atMs) },
    cost: cost === undefined ? null : costView(cost),
    live_alerts: live,
    created_at: timeText(row.createdAtMs),
    changed_at: timeText(row.changedAtMs),
    changed_by: row.changedBy,
  };
}

export function versionView({ version, spec, atMs, actor }: RuleVersion) {
  return { version, spec, at: timeText(atMs), actor };
}

export function backtestView(
  result: BacktestResult,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Backtest {
  return {
    ...{ from: timeText(fromMs), to: timeText(toMs), findings: result.findings },
    ...{ matched_events: result.matched, alerts: result.alerts },
    sensors: result.sensors.map(({ sensorId: sensor_id, findings }) => ({ sensor_id, findings })),
    bars: result.bars.map((bar) => ({ from: timeText(bar.fromMs), findings: bar.findings })),
    samples: result.samples.map((one) => ({
      ...{ sensor_id: one.sensorId, group: { ...one.group } },
      ...{ event_ids: [...one.eventIds], event: one.last },
    })),
    judged_events: result.judged,
    is_truncated: result.isTruncated,
    took_ms: result.tookMs,
    cost_ms: result.costMs,
  };
}

function costView({ events, costMs, ratio }: RuleCost) {
  return {
    events,
    cpu_ms: costMs,
    ns_per_event: events === 0 ? 0 : (costMs * 1_000_000) / events,
    core_ratio: ratio,
  };
}
