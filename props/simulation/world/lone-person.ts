// Somebody who works alone beside the other people: logs in like everybody else, does one thing after another, and is changed
// by nobody. What it does is its own. decision: D165, D168
import type { Role } from '../../../machines/trust/scope.ts';
import type { ConsoleHost } from './console-host.ts';
import type { Listeners } from './dial.ts';
import { type Held, newPerson, type Person, type PersonParts } from './person.ts';
import { tellOfRestores } from './person-factor.ts';
import { logIn } from './person-login.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

export type LonePerson = {
  begin(): void;
  /** Everything works again: it does its last, or nothing more. */
  heal(): void;
  /** What it has not done yet; nothing before the healing. */
  missing(): readonly string[];
};
/** With the session it holds now. */
export type LoneAct = (
  parts: PersonParts,
  of: { readonly person: Person; readonly held: Held },
  isHealed: () => boolean,
) => Promise<boolean>;
/** Where one is made, and how many: one, or none. */
export type LoneOptions = {
  readonly world: World;
  readonly consoles: readonly ConsoleHost[];
  readonly listeners: Listeners;
  readonly count: number;
};

const HASTE_MS = 3_000;
/** Who cannot get in for so long owes nothing: that people get in is the promise of others. */
const GET_IN_MAX_MS = 20 * 60_000;

/** Makes one; `act` does one thing and answers whether there is more to do at once, otherwise it thinks for a while. */
export function createLonePerson(
  { world, consoles, listeners, count }: LoneOptions,
  own: {
    /** With a number that no other person has, so that its address is its own, too. */
    readonly name: string;
    readonly role: Role;
    readonly random: Random;
    /** On average. */
    readonly thinkMs: number;
    readonly act: LoneAct;
    /** Its last, step by step, once everything works again; answers whether that was all. */
    readonly settle?: (
      parts: PersonParts,
      of: { readonly person: Person; readonly held: Held },
    ) => Promise<boolean>;
  },
): LonePerson {
  const { random, thinkMs } = own;
  const person: Person = { ...newPerson(own.name, false), role: own.role };
  const parts: PersonParts = { world, consoles, listeners, random, isHonest: true };
  let isHealed = false;
  let healedAtMs = 0;
  let isSettled = count === 0 || own.settle === undefined;

  async function act(): Promise<boolean> {
    const held = person.held.at(-1);
    if (held === undefined) await logIn(parts, person);
    else if (!isHealed) return own.act(parts, { person, held }, () => isHealed);
    else if (own.settle !== undefined) isSettled = await own.settle(parts, { person, held });
    return true;
  }
  function next(ms: number): void {
    world.scheduler.after(ms, () => {
      if (isHealed && isSettled) return;
      act().then(
        (isBusy) => next(isBusy ? HASTE_MS : random.exponential(thinkMs)),
        (error: unknown) => world.crashed(person.name, error),
      );
    });
  }

  return {
    begin() {
      if (count === 0) return;
      tellOfRestores({ world }, person);
      next(HASTE_MS);
    },
    heal() {
      isHealed = true;
      healedAtMs = world.scheduler.now();
    },
    missing() {
      const isLate = world.scheduler.now() - healedAtMs > GET_IN_MAX_MS;
      const isOwed = isHealed && !isSettled && (person.held.length > 0 || !isLate);
      return isOwed ? [`${person.name} has not done its last`] : [];
    },
  };
}
