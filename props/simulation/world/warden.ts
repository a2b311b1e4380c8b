// Somebody who cuts nodes off and lets them go again: for good or until an instant, also a node that is contained already, at
// whichever Console answers. It logs in like everybody else and is changed by nobody. decision: D85, D168
import { WORLD_BEGINS_MS } from './clocks.ts';
import { asked } from './keeper-acts.ts';
import {
  createLonePerson,
  type LoneAct,
  type LoneOptions,
  type LonePerson,
} from './lone-person.ts';
import type { PersonParts } from './person.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

type Listed = {
  readonly sensor_id: string;
  readonly trust_state: string | null;
  readonly is_contained: boolean;
};

const THINK_MS = [15_000, 60_000] as const;
/** No other person has this number, so that its address is its own, too. */
const NAME = 'warden-92';
const MINUTE_MS = 60_000;
const RELEASES_CONTAINED = 0.7;
const RELEASES_FREE = 0.1;
const HAS_END = 0.4;

/** Makes so many wardens: one, or none. */
export function createWarden(of: LoneOptions): LonePerson {
  const random = of.world.random.fork('warden');
  const thinkMs = random.pick(THINK_MS);
  return createLonePerson(of, { name: NAME, role: 'operator', random, thinkMs, act });
}

/** One order; whether it has to be tried again at once. */
async function act(...[parts, of, isHealed]: Parameters<LoneAct>): Promise<boolean> {
  const { random } = parts;
  const answer = await asked(parts, of, { method: 'get', path: '/sensors?limit=100' });
  if (answer === null || answer.code !== null) return true;
  const listed = (answer.body['items'] as readonly Listed[]).filter(
    ({ trust_state }) => trust_state !== 'trust_revoked',
  );
  if (listed.length === 0 || isHealed()) return false;
  const sensor = random.pick(listed);
  await order(parts, of, sensor);
  return false;
}

async function order(
  parts: PersonParts,
  of: Parameters<LoneAct>[1],
  { sensor_id: sensor, is_contained }: Listed,
): Promise<void> {
  const { world, random } = parts;
  const releases = random.chance(is_contained ? RELEASES_CONTAINED : RELEASES_FREE);
  const untilMs = releases ? null : endIn(random, world);
  const act = world.log.size();
  const wanted = releases ? 'released' : 'contained';
  world.observe({ kind: 'containment.asked', act, sensor, wanted, untilMs });
  const answer = await asked(parts, of, {
    ...{ method: 'post', path: `/sensors/${sensor}/${releases ? 'release' : 'contain'}` },
    body: {
      reason: 'drawn',
      ...(untilMs === null ? {} : { until: new Date(untilMs).toISOString() }),
    },
  });
  // Nothing heard, or that a store is away: it may have been ordered.
  if (answer === null || answer.status >= 500) return;
  const isPlaced = answer.code === null;
  world.observe({ kind: isPlaced ? 'containment.placed' : 'containment.refused', act });
}

/** By the clock of nobody in particular: those of nodes and Consoles differ. */
function endIn(random: Random, world: World): number | null {
  if (!random.chance(HAS_END)) return null;
  return WORLD_BEGINS_MS + Math.round(world.scheduler.now()) + random.between(2, 10) * MINUTE_MS;
}
