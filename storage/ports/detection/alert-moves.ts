// What findings and acts make of rows, the same in every store. decision: D130
import type { AuditAction } from '../../../machines/audit-actions.ts';
import type { AlertEvent } from '../../../machines/console/detection/alert.machine.ts';
import {
  type AlertStanding,
  alertAfter,
  newAlert,
} from '../../../machines/console/detection/alert-standing.ts';
import {
  type Finding,
  type FoundMatch,
  matchedOf,
} from '../../../machines/console/detection/finding.ts';
import type { AuditEntry } from '../audit/audit-log.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';
import { storableText } from '../plumbing/stored-text.ts';
import type { AlertAct, AlertNote, AlertRow, AlertStore } from './alert-store.ts';

const ACTIONS = {
  acknowledge: 'alert.acknowledge',
  assign: 'alert.assign',
  resolve: 'alert.resolve',
  reopen: 'alert.reopen',
  comment: 'alert.comment',
} as const satisfies Readonly<Record<AlertAct['act'], AuditAction>>;

const NO_KEYS: ReadonlySet<string> = new Set();

export type NewNote = Omit<AlertNote, 'sequence'> & { readonly alertId: string };
export type Raised = {
  /** The one that counts the matches now. */
  readonly row: AlertRow;
  /** The one before it, when it is another one now. */
  readonly before: AlertRow | null;
  readonly isNew: boolean;
  readonly notes: readonly NewNote[];
};

/** What the new matches of a finding make of the newest alert of its key; null when there is none to count. */
export function raised(
  finding: Finding,
  fresh: readonly FoundMatch[],
  { last, nowMs: atMs }: { readonly last: AlertRow | null; readonly nowMs: number },
): Raised | null {
  const matched = matchedOf(finding, fresh);
  if (matched === null) return null;
  if (last !== null) {
    const { quietMs } = finding;
    const counted = rowAfter(last, { type: 'alert.matched', atMs, quietMs, matched });
    if (counted !== null) {
      const toldAtMs = finding.isToldAgain ? null : last.toldAtMs;
      return { row: { ...counted, toldAtMs }, before: null, isNew: false, notes: [] };
    }
  }
  const { alertId } = finding.alert;
  const row = freshRow(finding, newAlert(matched), atMs);
  const reopened =
    last === null ? null : rowAfter(last, { type: 'alert.reopened', atMs, as: alertId });
  return {
    row: { ...row, reopens: last?.alert.alertId ?? null },
    before: reopened,
    isNew: true,
    notes: openedNotes(row, reopened, { atMs, actor: 'console' }),
  };
}

/**
 * What an act makes of a row; null when its state does not take it, or when it would open it beside one of its key that is
 * live: where clocks of Consoles differ, a newer one may stand under a lower name.
 */
export function acted(
  row: AlertRow,
  act: AlertAct,
  {
    actor,
    nowMs: atMs,
    liveKeys = NO_KEYS,
  }: Pick<AuditContext, 'actor' | 'nowMs'> & { readonly liveKeys?: ReadonlySet<string> },
): Raised | null {
  const { alertId } = row.alert;
  const note = (what: AlertNote['what'], text = ''): readonly NewNote[] => [
    { ...{ alertId, atMs, actor, what }, text: storableText(text) },
  ];
  const moved = (event: AlertEvent, notes: readonly NewNote[]): Raised | null => {
    const next = rowAfter(row, event);
    return next === null ? null : { row: next, before: null, isNew: false, notes };
  };
  switch (act.act) {
    case 'acknowledge':
      return moved({ type: 'alert.acknowledged', atMs, by: actor }, note('acknowledged'));
    case 'assign':
      return moved({ type: 'alert.assigned', atMs, to: act.to }, note('assigned', act.to ?? ''));
    case 'resolve': {
      const { resolution, text } = act;
      const said = text === undefined ? resolution : `${resolution}: ${text}`;
      return moved({ type: 'alert.resolved', atMs, by: actor, resolution }, note('resolved', said));
    }
    case 'comment': {
      const { revision } = row;
      const next = { ...row, changedAtMs: atMs, revision: revision + 1 };
      return { row: next, before: null, isNew: false, notes: note('commented', act.text) };
    }
    case 'reopen':
      if (liveKeys.has(row.alert.dedupKey)) return null;
      return reopened(row, act.as, { atMs, actor });
  }
}

/** The audit row of an act. */
export function auditOfAct(
  input: Pick<Parameters<AlertStore['act']>[0], 'actor' | 'from' | 'nowMs' | 'act'>,
  alertId: string,
  result: string,
): AuditEntry {
  const { act, actor, from, nowMs: atMs } = input;
  const action = ACTIONS[act.act];
  const detail =
    act.act === 'resolve'
      ? { resolution: act.resolution }
      : act.act === 'assign'
        ? { assignee: act.to }
        : act.act === 'reopen'
          ? { as: act.as }
          : {};
  return { atMs, actor, action, target: alertId, result, from, detail };
}

/** A row after an event of its machine; null when its state does not take it. */
export function rowAfter(row: AlertRow, event: AlertEvent): AlertRow | null {
  const standing = standingOf(row);
  const next = alertAfter(standing, event);
  if (next === standing) return null;
  return { ...row, ...next, changedAtMs: event.atMs, revision: row.revision + 1 };
}

/** The part of a row that its machine decides. */
export function standingOf(row: AlertRow): AlertStanding {
  const { alert, group, reopens, createdAtMs, changedAtMs, toldAtMs, revision, ...standing } = row;
  void [alert, group, reopens, createdAtMs, changedAtMs, toldAtMs, revision];
  return standing;
}

function freshRow(
  { alert, group }: Pick<Finding, 'alert' | 'group'>,
  standing: AlertStanding,
  atMs: number,
): AlertRow {
  return {
    ...standing,
    ...{ alert, group, reopens: null, createdAtMs: atMs, changedAtMs: atMs },
    ...{ toldAtMs: null, revision: 1 },
  };
}

// The new one begins with what the old one knew, and counts from one look of a person.
function reopened(
  row: AlertRow,
  as: string,
  { atMs, actor }: { readonly atMs: number; readonly actor: string },
): Raised | null {
  const before = rowAfter(row, { type: 'alert.reopened', atMs, as });
  if (before === null) return null;
  const standing = newAlert({
    ...{ count: 0, severity: row.severity, eventIds: row.eventIds },
    ...{ firstAtMs: row.firstMatchedAtMs, lastAtMs: row.lastMatchedAtMs },
  });
  const alert = { ...row.alert, alertId: as };
  const fresh = { ...freshRow({ alert, group: row.group }, standing, atMs) };
  const next = { ...fresh, assignee: row.assignee, reopens: row.alert.alertId };
  return { row: next, before, isNew: true, notes: openedNotes(next, before, { atMs, actor }) };
}

function openedNotes(
  row: AlertRow,
  before: AlertRow | null,
  { atMs, actor }: { readonly atMs: number; readonly actor: string },
): readonly NewNote[] {
  const { alertId } = row.alert;
  const opened: NewNote = { alertId, atMs, actor, what: 'opened', text: '' };
  if (before === null) return [opened];
  const { alertId: beforeId } = before.alert;
  return [{ alertId: beforeId, atMs, actor, what: 'reopened', text: alertId }, opened];
}
