// How a publisher brings versions to nodes in stages: it names who tries one first, and pauses, resumes and aborts.
import { asked } from './keeper-acts.ts';
import type { PersonParts } from './person.ts';
import { drawTarget } from './publisher-acts.ts';
import {
  type Desk,
  isBad,
  isOpen,
  type KnownRollout,
  type Of,
  targetText,
} from './publisher-desk.ts';
import type { Random } from './random.ts';

/** What no engine carries out begins with one that is named. */
const NAMED = 0.6;
const IS_GATED = 0.85;
const BORNE = { stale: 0.8, engine_restarts: 0.9, storms: 0.9, lost: 0.9, silent: 0.5 };

export async function startRollout(parts: PersonParts, of: Of, desk: Desk): Promise<void> {
  const { random, world } = parts;
  const [newest, other] = [desk.versions.at(-1), random.pick(desk.versions)];
  const published = random.chance(0.7) && newest !== undefined ? newest : other;
  const { pack, version } = published;
  const target = drawTarget(parts, desk);
  const among = desk.sensors.filter(({ sensor_id, group_ids }) => {
    if (target.kind === 'sensor') return sensor_id === target.id;
    return target.kind === 'fleet' || group_ids.includes(target.id);
  });
  if (among.length === 0) return;
  const isNamed = isBad(published) || random.chance(NAMED);
  const canary = isNamed ? drawSome(random, among).map(({ sensor_id }) => sensor_id) : null;
  const isGated = random.chance(IS_GATED);
  const mode = random.pick(['enforce', 'monitor']);
  const wish = { pack, version, mode };
  world.observe({ kind: 'rollout.asked', target: targetText(target), wish, canary, isGated });
  const body = {
    ...{ target, pack_id: pack, version, mode, stages: stagesOf(random, canary) },
    gates: gatesOf(random, isGated),
    answer_within_seconds: random.pick([60, 300]),
    on_failure: random.pick(['return', 'halt']),
  };
  await asked(parts, of, { method: 'post', path: '/rollouts', body });
}

function drawSome<T>(random: Random, all: readonly T[]): readonly T[] {
  const first = random.pick(all);
  return all.filter((one) => one === first || random.chance(0.3));
}

function stagesOf(random: Random, canary: readonly string[] | null): readonly object[] {
  const wait_seconds = random.pick([0, 30, 120]);
  const needs_word = random.chance(0.3);
  const first =
    canary === null
      ? { percent: random.pick([20, 50]), wait_seconds, needs_word }
      : { percent: 0, sensor_ids: canary, wait_seconds, needs_word };
  return [first, { percent: 100, wait_seconds: random.pick([0, 30]) }];
}

function gatesOf(random: Random, isGated: boolean): Readonly<Record<string, number | null>> {
  const borne = Object.entries(BORNE).flatMap(([gate, chance]) =>
    random.chance(chance) ? [[gate, null]] : [],
  );
  return { ...Object.fromEntries(borne), ...(isGated ? {} : { rejected: null, failed: null }) };
}

/** Pauses, resumes or aborts one that is under way. */
export async function speak(parts: PersonParts, of: Of, desk: Desk): Promise<void> {
  const open = desk.rollouts.filter(isOpen);
  if (open.length === 0) return startRollout(parts, of, desk);
  const rollout = parts.random.pick(open);
  await say(parts, of, rollout, wordFor(parts.random, rollout));
}

export async function say(
  parts: PersonParts,
  of: Of,
  { rollout_id: rollout }: KnownRollout,
  word: 'pause' | 'resume' | 'abort',
): Promise<void> {
  parts.world.observe({ kind: 'rollout.said', rollout, word });
  await asked(parts, of, { method: 'post', path: `/rollouts/${rollout}/${word}` });
}

/** Most often what its state takes. */
function wordFor(random: Random, { state }: KnownRollout): 'pause' | 'resume' | 'abort' {
  const waits = ['paused', 'halted', 'running.asking'].includes(state);
  if (random.chance(0.15)) return 'abort';
  return waits || random.chance(0.1) ? 'resume' : 'pause';
}
