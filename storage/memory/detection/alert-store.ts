// The reference inbox. decision: D60, D130
import { isLive } from '../../../machines/console/detection/alert-standing.ts';
import type { Finding, FoundMatch } from '../../../machines/console/detection/finding.ts';
import type { AuditEntry } from '../../ports/audit/audit-log.ts';
import {
  acted,
  auditOfAct,
  type NewNote,
  type Raised,
  raised,
} from '../../ports/detection/alert-moves.ts';
import type {
  AlertMatch,
  AlertNote,
  AlertQuery,
  AlertRow,
  AlertStore,
} from '../../ports/detection/alert-store.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';
import type { Fence } from '../runtime/designation.ts';

type Match = FoundMatch & { readonly alertId: string };
type AlertState = {
  readonly alerts: Map<string, AlertRow>;
  /** By rule and name. */
  readonly matches: Map<string, Match>;
  readonly notes: Map<string, readonly AlertNote[]>;
};
export type AlertDeps = {
  readonly record: (entry: AuditEntry) => void;
  readonly fence: Fence;
  /** What may not be removed yet. */
  readonly heldAlerts: () => ReadonlySet<string>;
};

/** The calls on an empty store. */
export function memoryAlertCalls(deps: AlertDeps): Calls<AlertStore> {
  const state: AlertState = { alerts: new Map(), matches: new Map(), notes: new Map() };
  return { ...raiseCalls(state, deps), ...readCalls(state), ...actCalls(state, deps) };
}

function raiseCalls(
  state: AlertState,
  { fence }: AlertDeps,
): Pick<Calls<AlertStore>, 'raise' | 'untold' | 'told'> {
  const { alerts } = state;
  return {
    raise({ epoch, nowMs, findings }) {
      fence(epoch);
      return findings.flatMap((given) => {
        const finding = storable(given);
        const fresh = freshMatches(state, finding);
        const last = newestOf(state, finding.alert.dedupKey);
        const made = raised(finding, fresh, { last, nowMs });
        if (made === null) return [];
        keep(state, made);
        const { alertId } = made.row.alert;
        for (const one of fresh) {
          state.matches.set(`${finding.alert.ruleId} ${one.matchId}`, { ...one, alertId });
        }
        return made.isNew ? [made.row] : [];
      });
    },
    untold: (limit) =>
      sorted(state)
        .filter(({ toldAtMs }) => toldAtMs === null)
        .toReversed()
        .slice(0, limit),
    told({ epoch, nowMs, alerts: said }) {
      fence(epoch);
      for (const { alertId, revision } of said) {
        const row = alerts.get(alertId);
        if (row?.revision === revision) alerts.set(alertId, { ...row, toldAtMs: nowMs });
      }
    },
  };
}

function readCalls(
  state: AlertState,
): Pick<Calls<AlertStore>, 'list' | 'get' | 'events' | 'counted' | 'counts' | 'liveByRule'> {
  const { alerts, matches, notes } = state;
  return {
    list: (query) =>
      sorted(state)
        .filter((row) => isWanted(row, query))
        .slice(0, query.limit),
    get(alertId) {
      const row = alerts.get(alertId);
      return row === undefined ? null : { row, notes: notes.get(alertId) ?? [] };
    },
    events: ({ alertId, limit, before }) =>
      [...matches.values()]
        .filter((one) => one.alertId === alertId && one.isEvent)
        .map(({ matchId, atMs }): AlertMatch => ({ matchId, atMs }))
        .sort((a, b) => -compare(a, b))
        .filter((one) => before === null || compare(one, before) < 0)
        .slice(0, limit),
    counted: ({ ruleId, matchIds }) =>
      new Set(matchIds.filter((id) => matches.has(`${ruleId} ${id}`))),
    counts() {
      const counts = new Map<string, ReturnType<Calls<AlertStore>['counts']>[number]>();
      for (const { state: at, severity } of sorted(state).filter(isLive)) {
        const key = `${at} ${severity}`;
        counts.set(key, { state: at, severity, count: (counts.get(key)?.count ?? 0) + 1 });
      }
      return [...counts.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
    },
    liveByRule() {
      const counts = new Map<string, number>();
      for (const { alert } of sorted(state).filter(isLive)) {
        counts.set(alert.ruleId, (counts.get(alert.ruleId) ?? 0) + 1);
      }
      return counts;
    },
  };
}

function actCalls(
  state: AlertState,
  { record, fence, heldAlerts }: AlertDeps,
): Pick<Calls<AlertStore>, 'act' | 'pass' | 'sweep'> {
  const { alerts, matches, notes } = state;
  return {
    act(input) {
      fence(input.epoch);
      return input.alertIds.map((alertId) => {
        const row = alerts.get(alertId);
        if (row === undefined) return { alertId, result: 'not_found' };
        const live = sorted(state).filter(isLive);
        const liveKeys = new Set(live.map(({ alert }) => alert.dedupKey));
        const made = acted(row, input.act, { ...input, liveKeys });
        record(auditOfAct(input, alertId, made === null ? 'refused' : 'ok'));
        if (made === null) return { alertId, result: 'refused' };
        keep(state, made);
        return { alertId, result: made.row };
      });
    },
    pass({ epoch, nowMs, dedupKeys }) {
      fence(epoch);
      const keys = new Set(dedupKeys.map(storableText));
      const by = { actor: 'console', nowMs };
      const over = sorted(state).filter((row) => isLive(row) && keys.has(row.alert.dedupKey));
      for (const row of over) {
        const made = acted(row, { act: 'resolve', resolution: 'passed' }, by);
        if (made !== null) keep(state, made);
      }
      return over.length;
    },
    sweep({ epoch, changedBeforeMs, limit }) {
      fence(epoch);
      const held = heldAlerts();
      const old = sorted(state)
        .filter((row) => !isLive(row) && row.changedAtMs < changedBeforeMs)
        .filter(({ alert }) => !held.has(alert.alertId))
        .sort(
          (a, b) => a.changedAtMs - b.changedAtMs || (a.alert.alertId < b.alert.alertId ? -1 : 1),
        )
        .slice(0, limit);
      for (const { alert } of old) {
        alerts.delete(alert.alertId);
        notes.delete(alert.alertId);
        for (const [key, one] of matches) if (one.alertId === alert.alertId) matches.delete(key);
      }
      return old.length;
    },
  };
}

/** Newest first. */
function sorted({ alerts }: AlertState): readonly AlertRow[] {
  return [...alerts.values()].sort((a, b) => (a.alert.alertId < b.alert.alertId ? 1 : -1));
}

function newestOf(state: AlertState, dedupKey: string): AlertRow | null {
  const own = sorted(state).filter(({ alert }) => alert.dedupKey === dedupKey);
  return own.find(isLive) ?? own[0] ?? null;
}

function freshMatches({ matches }: AlertState, { alert, matches: found }: Finding) {
  const seen = new Set<string>();
  return found.filter(({ matchId }) => {
    const isNew = !seen.has(matchId) && !matches.has(`${alert.ruleId} ${matchId}`);
    seen.add(matchId);
    return isNew;
  });
}

function keep({ alerts, notes }: AlertState, { row, before, notes: written }: Raised): void {
  alerts.set(row.alert.alertId, row);
  if (before !== null) alerts.set(before.alert.alertId, before);
  for (const { alertId, ...note } of written satisfies readonly NewNote[]) {
    const own = notes.get(alertId) ?? [];
    notes.set(alertId, [...own, { ...note, sequence: own.length + 1 }]);
  }
}

function isWanted(row: AlertRow, query: AlertQuery): boolean {
  const { alert } = row;
  const among = <T>(list: readonly T[] | undefined, one: T) => list?.includes(one) ?? true;
  const is = (wanted: string | undefined, one: string | null) =>
    wanted === undefined || wanted === one;
  const text = query.text?.toLowerCase();
  return (
    among(query.states, row.state) &&
    among(query.severities, row.severity) &&
    among(query.kinds, alert.kind) &&
    among(query.sources, alert.source) &&
    is(query.sensorId, alert.sensorId) &&
    is(query.ruleId, alert.ruleId) &&
    is(query.assignee, row.assignee) &&
    (query.fromMs === undefined || row.createdAtMs >= query.fromMs) &&
    (query.toMs === undefined || row.createdAtMs < query.toMs) &&
    (query.before === null || alert.alertId < query.before) &&
    (text === undefined ||
      [alert.headline, alert.nodeName].some((one) => one.toLowerCase().includes(text)))
  );
}

function compare(a: AlertMatch, b: AlertMatch): number {
  return a.atMs - b.atMs || (a.matchId < b.matchId ? -1 : a.matchId > b.matchId ? 1 : 0);
}

/** Names as the real store can hold them. */
function storable(finding: Finding): Finding {
  const { alert } = finding;
  return {
    ...finding,
    alert: {
      ...alert,
      ruleId: storableText(alert.ruleId),
      sensorId: storableText(alert.sensorId),
      dedupKey: storableText(alert.dedupKey),
    },
    matches: finding.matches.map((one) => ({ ...one, matchId: storableText(one.matchId) })),
  };
}
