// Somebody who keeps alert rules and saved searches, and works on the alerts: makes a rule of every kind, mutes a noisy
// sensor and hears it again, takes alerts, settles them, opens settled ones again. It logs in like everybody else and is
// changed by nobody. decision: D165
import {
  actOn,
  makeRule,
  makeSearch,
  muteIn,
  readAlerts,
  readRule,
  type StandingRule,
} from './keeper-acts.ts';
import {
  createLonePerson,
  type LoneAct,
  type LoneOptions,
  type LonePerson,
} from './lone-person.ts';
import type { AlertDeed, KeptRule, KeptSearch } from './observation.ts';
import type { PersonParts } from './person.ts';
import type { Random } from './random.ts';

const THINK_MS = [40_000, 120_000] as const;
/** No other person has this number, so that its address is its own, too. */
const NAME = 'keeper-91';
const MINUTE_MS = 60_000;
const [BASH, CURL, SSHD, PYTHON] = [
  '/usr/bin/bash',
  '/usr/bin/curl',
  '/usr/sbin/sshd',
  '/usr/bin/python3',
];

type Kept = { readonly rule: KeptRule; standing: StandingRule | null; isAsked: boolean };
type Plan = {
  readonly rules: readonly Kept[];
  readonly searches: { readonly search: KeptSearch; isThere: boolean }[];
};

function planOf(random: Random): Plan {
  const windowMs = random.pick([2, 5, 15]) * MINUTE_MS;
  const threshold = random.between(2, 4);
  const rules: readonly KeptRule[] = [
    { id: 'match', detects: 'match', binaries: [CURL], threshold: 1, windowMs: 0 },
    { id: 'count', detects: 'count', binaries: [PYTHON], threshold, windowMs },
    { id: 'sequence', detects: 'sequence', binaries: [BASH, SSHD], threshold: 1, windowMs },
    { id: 'absence', detects: 'absence', binaries: [SSHD], threshold: 1, windowMs },
    { id: 'fleet', detects: 'fleet_match', binaries: [BASH], threshold: 1, windowMs: 0 },
  ];
  const drawn = rules.filter(() => random.chance(0.8));
  const search = { name: 'many starts', binary: CURL, threshold, windowMs };
  return {
    rules: drawn.map((rule) => ({ rule, standing: null, isAsked: false })),
    searches: random.chance(0.7) ? [{ search, isThere: false }] : [],
  };
}

/** Makes so many keepers: one, or none. */
export function createKeeper(of: LoneOptions): LonePerson {
  const random = of.world.random.fork('keeper');
  const plan = planOf(random);
  const thinkMs = random.pick(THINK_MS);
  return createLonePerson(of, {
    ...{ name: NAME, role: 'analyst', random, thinkMs },
    act: (parts, one) => act(parts, one, plan),
  });
}

/** One thing; whether there is more to do at once. */
async function act(parts: PersonParts, of: Parameters<LoneAct>[1], plan: Plan): Promise<boolean> {
  const { random } = parts;
  const missing = plan.rules.find(({ standing }) => standing === null);
  if (missing !== undefined) {
    await bring(parts, of, missing);
    return true;
  }
  const wanted = plan.searches.find(({ isThere }) => !isThere);
  if (wanted !== undefined) {
    wanted.isThere = await makeSearch(parts, of, wanted.search);
    return true;
  }
  const alerts = await readAlerts(parts, of);
  if (alerts.length === 0) return false;
  const alert = random.pick(alerts);
  const own = plan.rules.find(({ rule }) => rule.id === alert.rule_id);
  if (own?.rule.detects === 'match' && random.chance(MUTES)) {
    const { rule, standing } = own;
    if (standing === null) return false;
    const muted = standing.muted === null ? alert.sensor_id : null;
    own.standing = await muteIn(parts, of, { rule, standing, muted });
    return false;
  }
  const deed = deedOn(alert.state, random);
  if (deed !== null) await actOn(parts, of, { alert: alert.alert_id, act: deed });
  return false;
}
const MUTES = 0.1;

/** What it heard nothing of may stand. */
async function bring(
  parts: PersonParts,
  of: Parameters<typeof readRule>[1],
  kept: Kept,
): Promise<void> {
  const known = kept.isAsked ? await readRule(parts, of, kept.rule) : 'none';
  if (known !== 'none') kept.standing = known;
  else {
    kept.isAsked = true;
    kept.standing = await makeRule(parts, of, kept.rule);
  }
}

/** Most often what its state takes; now and then what it refuses. */
function deedOn(state: string, random: Random): AlertDeed | null {
  const likely = { open: 'acknowledge', acknowledged: 'resolve', resolved: 'reopen' } as const;
  if (random.chance(0.2)) return random.pick(['acknowledge', 'resolve', 'reopen'] as const);
  return likely[state as keyof typeof likely] ?? null;
}
