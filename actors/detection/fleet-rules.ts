// Rules that are counted over the fleet: the designated Console reads what arrived anywhere, up to the horizon, so that
// nothing appears behind it. decision: D60, D131, D152
import { RULE_CURSOR_LAG_MS } from '../../machines/limits.ts';
import { FLEET_RULES_CURSOR, type RuleRow } from '../../storage/ports/detection/rule-store.ts';
import { findingsOf, joined, type RuleDeps } from './rule-findings.ts';
import { arrivalsFor, countedOf, replayFromMs } from './rule-replay.ts';
import { createRunningRule, type RuleCost, type RunningRule } from './running-rule.ts';

type FleetRule = { readonly running: RunningRule; readToMs: number };

export type FleetRules = {
  setRows(rows: readonly RuleRow[]): void;
  /** Whether there is a rule to be judged. */
  hasRules(): boolean;
  /** Judges what arrived since the last time; a tenure begins from the cursor. */
  work(epoch: number): Promise<void>;
  costs(): ReadonlyMap<string, RuleCost>;
};

/** Makes them, none. */
export function createFleetRules(deps: RuleDeps): FleetRules {
  const held = new Map<string, FleetRule>();
  let rows: readonly RuleRow[] = [];
  const cursor = cursorOf(deps.rules);
  let tenure = -1;

  async function judge(row: RuleRow, own: FleetRule, toMs: number): Promise<void> {
    if (toMs <= own.readToMs) return;
    const { running } = own;
    const range = { fromMs: own.readToMs, toMs };
    for await (const page of arrivalsFor(deps.events, running.rule, range)) {
      const counted = await countedOf(deps.inbox, running.rule, page);
      const found = findingsOf(deps, running.rule, running.judge(page, deps.labelsOf, counted));
      if (found.length > 0) await deps.alerts.raise(joined(found), tenure);
    }
    own.readToMs = toMs;
    const why = running.excess(deps.now());
    if (why === null) return;
    held.delete(row.ruleId);
    await deps.pause(row, why);
  }

  function begun(row: RuleRow, fromMs: number): FleetRule | null {
    const running = createRunningRule(row, deps, row.activeSinceMs < fromMs);
    if (running === null) return null;
    // The cursor may have moved on while this Console did not know of the rule yet.
    const knownMs = fromMs - RULE_CURSOR_LAG_MS;
    const readToMs = replayFromMs(running.rule, row.activeSinceMs, knownMs);
    const own = { running, readToMs };
    held.set(row.ruleId, own);
    return own;
  }

  return {
    setRows(next) {
      rows = next;
      const versions = new Map(next.map((row) => [row.ruleId, row.version]));
      for (const [ruleId, { running }] of held) {
        if (versions.get(ruleId) !== running.row.version) held.delete(ruleId);
      }
    },
    hasRules: () => rows.length > 0,
    async work(epoch) {
      if (tenure !== epoch) held.clear();
      tenure = epoch;
      if (rows.length === 0) return;
      const toMs = await deps.horizon({ epoch, nowMs: deps.now() });
      const { fromMs, wentBack } = await cursor.read(toMs);
      // What was judged since then may not be all that there is.
      if (wentBack) held.clear();
      for (const row of rows) {
        // A rule that fails half way is read again from its windows on.
        const own = held.get(row.ruleId) ?? begun(row, fromMs);
        if (own === null) {
          await deps.pause(row, { reason: 'failed', detail: 'its condition cannot be read' });
          continue;
        }
        await judge(row, own, toMs).catch((error: unknown) => {
          held.delete(row.ruleId);
          throw error;
        });
      }
      await cursor.advance(toMs);
    },
    costs: () => new Map([...held].map(([ruleId, { running }]) => [ruleId, running.cost()])),
  };
}

/** It goes back with the horizon, and with a database that forgets. */
function cursorOf(rules: Pick<RuleDeps['rules'], 'cursor' | 'advance'>) {
  const name = FLEET_RULES_CURSOR;
  let readMs: number | null = null;
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    /** Where to begin: at `toMs` where nothing was judged yet. */
    async read(toMs: number): Promise<{ readonly fromMs: number; readonly wentBack: boolean }> {
      readMs = await rules.cursor(name);
      const fromMs = readMs ?? toMs;
      const wentBack = fromMs < lastMs;
      lastMs = fromMs;
      return { fromMs, wentBack };
    },
    /** Where it went back since it was read, it stays there. */
    async advance(receivedMs: number): Promise<void> {
      const isThere = await rules.advance({ name, receivedMs, fromMs: readMs });
      if (isThere) lastMs = Math.max(lastMs, receivedMs);
    },
  };
}
