// What a keeper asks a Console for: rules and saved searches that it means to have, and what it does to alerts. An answer
// that never came is asked for later, so that the keeper knows what stands.
import type { AlertDeed, KeptRule, KeptSearch } from './observation.ts';
import { type Held, type Person, type PersonParts, putAway } from './person.ts';
import { ask } from './person-factor.ts';
import type { PlaneAnswer, PlaneRequest } from './plane-client.ts';

/** Asks with a session; null when nothing was heard. A session that opens nothing any more is put away. */
export async function asked(
  parts: PersonParts,
  { person, held }: { readonly person: Person; readonly held: Held },
  request: Pick<PlaneRequest, 'method' | 'path' | 'body'>,
): Promise<PlaneAnswer | null> {
  const heard = await ask(parts, person, held, request);
  if (heard.isSilent) return null;
  if (heard.value.status === 401) putAway(person, held);
  return heard.value;
}
type Of = { readonly person: Person; readonly held: Held };

function conditionOf(binary: string): string {
  return `event_kind:process_exec and binary:${binary}`;
}

function specOf(rule: KeptRule, muted: string | null): object {
  const [first = '', ...others] = rule.binaries;
  const condition = conditionOf(first);
  const window_secs = rule.windowMs / 1_000;
  const detect = {
    match: { kind: 'match', condition },
    fleet_match: { kind: 'match', condition },
    count: { kind: 'count', condition, threshold: rule.threshold, window_secs },
    sequence: {
      ...{ kind: 'sequence', steps: [condition, ...others.map(conditionOf)], window_secs },
      by: 'sensor',
    },
    absence: { kind: 'absence', condition, window_secs },
  }[rule.detects];
  return {
    ...{ rule_name: rule.id, severity: 'medium', detect },
    ...(rule.detects === 'fleet_match' ? { across: 'fleet' } : {}),
    ...(muted === null ? {} : { mutes: [{ sensor_id: muted }] }),
  };
}

type RuleTold = {
  readonly version: number;
  readonly changed_at: string;
  readonly spec: { readonly mutes?: readonly { readonly sensor_id: string }[] };
};
export type StandingRule = { readonly version: number; readonly muted: string | null };

function tellRule({ world }: PersonParts, rule: KeptRule, told: RuleTold): StandingRule {
  const muted = told.spec.mutes?.[0]?.sensor_id ?? null;
  const activeMs = Date.parse(told.changed_at);
  world.observe({ kind: 'rule.told', rule: rule.id, muted, activeMs });
  return { version: told.version, muted };
}

/** The rule as it stands; null when that is not known, or there is none. */
export async function readRule(
  parts: PersonParts,
  of: Of,
  rule: KeptRule,
): Promise<StandingRule | 'none' | null> {
  const answer = await asked(parts, of, { method: 'get', path: `/alert-rules/${rule.id}` });
  if (answer?.status === 404) return 'none';
  if (answer === null || answer.code !== null) return null;
  return tellRule(parts, rule, answer.body['rule'] as RuleTold);
}

export async function makeRule(
  parts: PersonParts,
  of: Of,
  rule: KeptRule,
): Promise<StandingRule | null> {
  parts.world.observe({ kind: 'rule.asked', rule, muted: null });
  const body = { rule_id: rule.id, spec: specOf(rule, null) };
  const answer = await asked(parts, of, { method: 'post', path: '/alert-rules', body });
  if (answer === null || answer.code !== null) return null;
  return tellRule(parts, rule, answer.body as unknown as RuleTold);
}

/** Mutes a sensor in a rule that stands, or none. */
export async function muteIn(
  parts: PersonParts,
  of: Of,
  what: {
    readonly rule: KeptRule;
    readonly standing: StandingRule;
    readonly muted: string | null;
  },
): Promise<StandingRule | null> {
  const { rule, standing, muted } = what;
  parts.world.observe({ kind: 'rule.asked', rule, muted });
  const body = { spec: specOf(rule, muted), version: standing.version };
  const answer = await asked(parts, of, { method: 'put', path: `/alert-rules/${rule.id}`, body });
  if (answer === null || answer.code !== null) return null;
  return tellRule(parts, rule, answer.body as unknown as RuleTold);
}

type SeenAlert = {
  readonly alert_id: string;
  readonly state: string;
  readonly rule_id: string;
  readonly sensor_id: string;
};

export async function readAlerts(parts: PersonParts, of: Of): Promise<readonly SeenAlert[]> {
  const answer = await asked(parts, of, { method: 'get', path: '/alerts?limit=20' });
  if (answer === null || answer.code !== null) return [];
  return answer.body['items'] as readonly SeenAlert[];
}

export async function actOn(
  parts: PersonParts,
  of: Of,
  { alert, act }: { readonly alert: string; readonly act: AlertDeed },
): Promise<void> {
  const actor = `user:${of.person.email}`;
  parts.world.observe({ kind: 'alert.asked', alert, act, actor });
  const body = act === 'resolve' ? { body: { resolution: 'expected' } } : {};
  const request = { method: 'post', path: `/alerts/${alert}/${act}`, ...body } as const;
  const answer = await asked(parts, of, request);
  if (answer?.code === null) parts.world.observe({ kind: 'alert.told', alert, act });
}

type SearchTold = {
  readonly search_id: string;
  readonly search_name: string;
  readonly created_at: string;
};

/** Whether it stands. One that is there already is found by its name. */
export async function makeSearch(parts: PersonParts, of: Of, search: KeptSearch): Promise<boolean> {
  const { name, binary, threshold, windowMs } = search;
  parts.world.observe({ kind: 'search.asked', search });
  const body = {
    ...{ search_name: name, filter: { q: conditionOf(binary) } },
    ...{ threshold, window_secs: windowMs / 1_000 },
  };
  const made = await asked(parts, of, { method: 'post', path: '/saved-searches', body });
  if (made?.code === null) return tellSearch(parts, made.body as unknown as SearchTold);
  if (made === null || made.status !== 409) return false;
  const all = await asked(parts, of, { method: 'get', path: '/saved-searches' });
  if (all === null || all.code !== null) return false;
  const items = all.body['items'] as readonly SearchTold[];
  const own = items.find((one) => one.search_name === name);
  return own === undefined ? false : tellSearch(parts, own);
}

function tellSearch({ world }: PersonParts, told: SearchTold): true {
  const createdMs = Date.parse(told.created_at);
  const { search_name: name, search_id: search } = told;
  world.observe({ kind: 'search.told', name, search, createdMs });
  return true;
}
