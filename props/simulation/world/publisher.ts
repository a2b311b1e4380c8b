// Somebody who publishes policies and brings them to nodes: good versions, ones that no engine or not every engine carries
// out; assigned to a sensor, a group or the fleet, or rolled out in stages that it pauses, resumes and aborts; under keys
// that it changes. It logs in like everybody else. Once everything works again it leaves good versions behind.
// decision: D83, D90, D170
import {
  createLonePerson,
  type LoneAct,
  type LoneOptions,
  type LonePerson,
} from './lone-person.ts';
import type { PersonParts } from './person.ts';
import { assign, publish, take, unassign } from './publisher-acts.ts';
import { createDesk, type Desk, forgetTold, type Of, readDesk } from './publisher-desk.ts';
import { changeKeys } from './publisher-keys.ts';
import { speak, startRollout } from './publisher-rollouts.ts';
import { settle } from './publisher-settling.ts';

const THINK_MS = [15_000, 45_000] as const;
/** No other person has this number, so that its address is its own, too. */
const NAME = 'publisher-93';

export type Publisher = LonePerson & {
  /** What it was told at the end, once it had done its last; null before. */
  settled(): Desk['settled'];
  settledAtMs(): number | null;
  /** The sensors of its group, as it was told. */
  readonly desk: Pick<
    Desk,
    'sensors' | 'versions' | 'keys' | 'reused' | 'isForgotten' | 'rotations'
  >;
};

/** Makes so many publishers: one, or none. */
export function createPublisher(of: LoneOptions): Publisher {
  const random = of.world.random.fork('publisher');
  const thinkMs = random.pick(THINK_MS);
  const desk = createDesk(random.fork('keys'));
  const person = createLonePerson(of, {
    ...{ name: NAME, role: 'admin', random, thinkMs },
    act: (parts, one, isHealed) => act(parts, one, { desk, isHealed }),
    settle: (parts, one) => settle(parts, one, desk),
  });
  of.world.subscribe(({ kind }) => {
    // A Console that had not heard of it yet may have told of what is gone.
    const isTime = kind === 'relational.forgot' || (kind === 'healed' && desk.isForgotten);
    if (isTime) forgetTold(desk);
  });
  return { ...person, desk, settled: () => desk.settled, settledAtMs: () => desk.settledAtMs };
}

/** One thing; whether there is more to do at once. */
async function act(
  parts: PersonParts,
  of: Parameters<LoneAct>[1],
  { desk, isHealed }: { readonly desk: Desk; readonly isHealed: () => boolean },
): Promise<boolean> {
  if (!(await readDesk(parts, of, desk))) return true;
  if (isHealed()) return false;
  const { random } = parts;
  if (desk.packs.length < 2 || desk.versions.length < 2) {
    await publish(parts, of, desk);
    return true;
  }
  await drawn(random.next())(parts, of, desk);
  return false;
}

type Deed = (parts: PersonParts, of: Of, desk: Desk) => Promise<unknown>;

function drawn(roll: number): Deed {
  if (roll < 0.3) return publish;
  if (roll < 0.48) return assign;
  if (roll < 0.54) return unassign;
  if (roll < 0.58) return take;
  if (roll < 0.74) return startRollout;
  if (roll < 0.95) return speak;
  return changeKeys;
}
