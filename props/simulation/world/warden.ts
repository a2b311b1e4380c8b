// Somebody who cuts nodes off and lets them go again: for good or until an instant, also a node that is contained already, at
// whichever Console answers. It logs in like everybody else and is changed by nobody. decision: D85, D168
import { WORLD_BEGINS_MS } from './clocks.ts';
import type { ConsoleHost } from './console-host.ts';
import type { Listeners } from './dial.ts';
import { asked } from './keeper-acts.ts';
import { type Held, newPerson, type Person, type PersonParts } from './person.ts';
import { logIn } from './person-login.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

type Warden = {
  begin(): void;
  /** Everything works again: it orders nothing more. */
  heal(): void;
};
type Listed = {
  readonly sensor_id: string;
  readonly trust_state: string | null;
  readonly is_contained: boolean;
};

const HASTE_MS = 3_000;
const THINK_MS = [15_000, 60_000] as const;
/** No other person has this number, so that its address is its own, too. */
const NAME = 'warden-92';
const MINUTE_MS = 60_000;
const RELEASES_CONTAINED = 0.7;
const RELEASES_FREE = 0.1;
const HAS_END = 0.4;

/** Makes so many wardens: one, or none. */
export function createWarden(of: {
  readonly world: World;
  readonly consoles: readonly ConsoleHost[];
  readonly listeners: Listeners;
  readonly count: number;
}): Warden {
  const { world, consoles, listeners, count } = of;
  const random = world.random.fork('warden');
  const person: Person = { ...newPerson(NAME, false), role: 'operator' };
  const thinkMs = random.pick(THINK_MS);
  const parts: PersonParts = { world, consoles, listeners, random, isHonest: true };
  let isHealed = false;

  function next(ms: number): void {
    world.scheduler.after(ms, () => {
      if (isHealed) return;
      act(parts, person, () => isHealed).then(
        (isBusy) => next(isBusy ? HASTE_MS : random.exponential(thinkMs)),
        (error: unknown) => world.crashed(person.name, error),
      );
    });
  }

  return {
    begin() {
      if (count > 0) next(HASTE_MS);
    },
    heal() {
      isHealed = true;
    },
  };
}

/** One thing; whether there is more to do at once. */
async function act(parts: PersonParts, person: Person, isOver: () => boolean): Promise<boolean> {
  const { random } = parts;
  const held = person.held.at(-1);
  if (held === undefined) {
    await logIn(parts, person);
    return true;
  }
  const of = { person, held };
  const answer = await asked(parts, of, { method: 'get', path: '/sensors?limit=100' });
  if (answer === null || answer.code !== null) return true;
  const listed = (answer.body['items'] as readonly Listed[]).filter(
    ({ trust_state }) => trust_state !== 'trust_revoked',
  );
  if (listed.length === 0 || isOver()) return false;
  const sensor = random.pick(listed);
  await order(parts, of, sensor);
  return false;
}

async function order(
  parts: PersonParts,
  of: { readonly person: Person; readonly held: Held },
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
