// Which destinations an alert goes to, judged by an oracle that goes through every alert there may be: a route takes what each
// of its four conditions takes, and a condition that is empty takes everything. decision: D103
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ALERT_KINDS,
  ALERT_SEVERITIES,
  type AlertKind,
  type AlertSeverity,
} from '../../machines/console/delivery/alert.ts';
import { isWanted } from '../../machines/console/delivery/routing.rules.ts';

const GROUPS = ['web', 'database', 'build'];
const RULES = ['shell-below-web', 'odd-program', 'a-search'];
const RANK: Readonly<Record<AlertSeverity, number>> = {
  ...{ info: 0, low: 1, medium: 2 },
  ...{ high: 3, critical: 4 },
};
const some = <T>(of: readonly T[]) => fc.subarray([...of]);
const route = fc.record({
  kinds: some<AlertKind>(ALERT_KINDS),
  minSeverity: fc.constantFrom(...ALERT_SEVERITIES),
  groupIds: some(GROUPS),
  ruleIds: some(RULES),
});
const alert = fc.record({
  kind: fc.constantFrom(...ALERT_KINDS),
  severity: fc.constantFrom(...ALERT_SEVERITIES),
  groupIds: some(GROUPS),
  ruleId: fc.constantFrom(...RULES, 'another'),
});

describe('the way of an alert', () => {
  it('always leads to whom every condition lets it, and to nobody else', () => {
    fc.assert(
      fc.property(route, alert, (to, one) => {
        const ofKind = to.kinds.length === 0 || new Set<string>(to.kinds).has(one.kind);
        const isGrave = RANK[one.severity] >= RANK[to.minSeverity];
        const shared = to.groupIds.filter((id) => new Set(one.groupIds).has(id));
        const ofGroup = to.groupIds.length === 0 || shared.length > 0;
        const ofRule = to.ruleIds.length === 0 || to.ruleIds.some((id) => id === one.ruleId);
        expect(isWanted(to, one)).toBe(ofKind && isGrave && ofGroup && ofRule);
      }),
    );
  });

  it('should not lead what is of no sensor to those who want a group', () => {
    const graveOfNobody = {
      ...{ kind: ALERT_KINDS[0], severity: 'critical' as const, groupIds: [], ruleId: 'another' },
    } as const;
    const all = { kinds: [], minSeverity: 'info', groupIds: [] } as const;
    expect(isWanted(all, graveOfNobody)).toBe(true);
    expect(isWanted({ ...all, groupIds: ['web'] }, graveOfNobody)).toBe(false);
    expect(isWanted({ ...all, ruleIds: ['odd-program'] }, graveOfNobody)).toBe(false);
  });
});
