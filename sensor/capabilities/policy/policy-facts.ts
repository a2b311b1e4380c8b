// What became of each policy of this node: what it judged, and what the engine says of what it was given. decision: D45
import type { EngineReport } from '../../../machines/wire/heartbeat.ts';
import type { PolicyFact } from '../../actors/facts.ts';
import type { JudgedPolicy } from '../../engine/policy/judge-policies.ts';
import { isObject } from '../../transport/answer.ts';
import type { EngineMessage } from '../engine/engine-messages.ts';
import type { EngineWords } from './engine-words.ts';
import type { PolicyCounts } from './policy-counts.ts';

export type Taken = JudgedPolicy & { readonly ok: true };

const COUNTS = [
  'matched',
  'signals',
  'signals_failed',
  'refusals',
  'monitored_signals',
  'monitored_refusals',
];
const DEEDS = ['signals', 'refusals'];
const TOLD_MAX = 1_024;
const NO_ENGINE = 'the engine that runs carries out no policies';

/** Each policy as it stands; `taken` are those the engine was given, by their names. */
export function policyFacts(
  judged: readonly JudgedPolicy[],
  taken: ReadonlyMap<string, Taken>,
  words: EngineWords,
  sums: PolicyCounts,
): readonly PolicyFact[] {
  if (words.way === 'own') return ownFacts(judged, words, sums);
  return judged.map((one) => factOf(one, taken.get(one.name), words, sums));
}

function factOf(
  one: JudgedPolicy,
  mine: Taken | undefined,
  words: EngineWords,
  sums: PolicyCounts,
): PolicyFact {
  const base = { name: one.name, ...originOf(one) };
  if (mine === undefined) {
    const code = one.ok ? undefined : one.code;
    // What came from the Console is good for another engine; what was laid by hand was never taken.
    const isBeyond = one.from !== undefined && code === 'engine_cannot';
    return {
      ...{ ...base, counts: sums.of(one.name) },
      ...{ state: isBeyond ? 'failed' : 'rejected', reason: reasonOf(one) },
      ...(code === undefined ? {} : { code }),
    };
  }
  const word = words.policies.get(one.name);
  const engineReason = String(word?.['reason'] ?? '').slice(0, 512);
  const isCurrent = word?.['digest'] === mine.digest || engineReason !== '';
  const reason = [
    one.ok ? '' : `${reasonOf(one)}; the version before stays in force`,
    engineReason,
    words.reason,
    mine.isUnsigned ? 'it is not signed, although this node has a key' : '',
  ].filter((text) => text !== '');
  const sha256 = mine.digest;
  if (words.way === 'none') {
    const why = [NO_ENGINE, ...reason].join('; ');
    const counts = sums.of(one.name);
    return { ...base, state: 'failed', reason: why, counts, sha256, code: 'engine_cannot' };
  }
  const state = isCurrent ? String(word?.['state']).slice(0, 32) : 'applying';
  const counts = sums.put(one.name, countsOf(word));
  return { ...base, state, reason: reason.join('; '), counts, sha256 };
}

function ownFacts(
  judged: readonly JudgedPolicy[],
  words: EngineWords,
  sums: PolicyCounts,
): readonly PolicyFact[] {
  const origins = new Map(judged.map((one) => [one.name, originOf(one)]));
  return words.own.map((one) => {
    const [name, state] = [String(one['name']).slice(0, 128), String(one['state']).slice(0, 32)];
    const counts = isObject(one['counts']) ? countsOf(one['counts']) : {};
    return { name, state, reason: '', counts: sums.put(name, counts), ...origins.get(name) };
  });
}

function originOf({ from }: JudgedPolicy): Pick<PolicyFact, 'from'> {
  return from === undefined ? {} : { from };
}

function reasonOf(one: JudgedPolicy): string {
  return one.ok ? '' : one.reason;
}

/** As the heartbeat tells what is loaded. */
export function loadedPolicies(facts: readonly PolicyFact[]): EngineReport['loaded_policies'] {
  return facts.slice(0, TOLD_MAX).map(({ name, state, reason, counts }) => ({
    name: name.slice(0, 128),
    state,
    ...(reason === '' ? {} : { reason: reason.slice(0, 512) }),
    ...deedsOf(counts),
  }));
}

/** How often a policy acted, and would have; absent where nobody counted. */
export function deedsOf(counts: PolicyFact['counts']): {
  readonly acted?: number;
  readonly would_have_acted?: number;
} {
  const sumOf = (names: readonly string[]): number | undefined =>
    names.some((one) => counts[one] !== undefined)
      ? names.reduce((sum, one) => sum + (counts[one] ?? 0), 0)
      : undefined;
  const [acted, wouldHave] = [sumOf(DEEDS), sumOf(DEEDS.map((one) => `monitored_${one}`))];
  return {
    ...(acted === undefined ? {} : { acted }),
    ...(wouldHave === undefined ? {} : { would_have_acted: wouldHave }),
  };
}

/** Whether a policy only tells, as its engine said last. */
export function monitorsOf(policies: readonly PolicyFact[]): (policy: string) => boolean {
  const names = new Set(
    policies.filter(({ state }) => state.startsWith('monitoring')).map(({ name }) => name),
  );
  // A version that takes the place of another bears a second name while both are loaded.
  return (policy) => names.has(policy) || names.has(policy.replace(/-next$/, ''));
}

function countsOf(word: EngineMessage | undefined): Readonly<Record<string, number>> {
  const pairs = COUNTS.map((name): [string, number] => [name, Number(word?.[name])]);
  return Object.fromEntries(pairs.filter(([, count]) => Number.isSafeInteger(count)));
}
