// How a publisher changes the keys that nodes trust: by a statement that the Console signs, or one that it signed by itself
// with a key they trust. Some statements retire the key before.
import { rotationOf, type Signer } from '../../crash/node-policies.fixture.ts';
import { asked } from './keeper-acts.ts';
import { type PersonParts, putAway } from './person.ts';
import type { PlaneAnswer } from './plane-client.ts';
import { type Desk, type Of, ownSigner } from './publisher-desk.ts';

const BY_CONSOLE = 0.5;
const RETIRES = 0.3;
const RETIRES_CONSOLE = 0.1;

/** Brings the next of its keys; nothing where there is none left. */
export async function changeKeys(parts: PersonParts, of: Of, desk: Desk): Promise<void> {
  const { random } = parts;
  const { trusted, retired, own, sequence } = desk.keys;
  const next = desk.signers.find(({ id }) => !trusted.includes(id) && !retired.includes(id));
  const by = ownSigner(desk);
  if (next === undefined) return;
  const leaving = retiredBy(parts, desk, by);
  desk.rotations += 1;
  const isOfConsole = own !== null && trusted.includes(own);
  if (by === undefined && !isOfConsole) return;
  const answer =
    isOfConsole && (by === undefined || random.chance(BY_CONSOLE))
      ? await byConsole(parts, of, next, leaving)
      : await byItself(parts, of, { by: by ?? next, next, sequence: sequence + 1, leaving });
  // It shows its password again.
  if (answer?.code === 'fresh_login_required') putAway(of.person, of.held);
}

function retiredBy({ random }: PersonParts, { keys }: Desk, by: Signer | undefined) {
  const own = random.chance(RETIRES_CONSOLE) && keys.own !== null ? [keys.own] : [];
  return [...(by !== undefined && random.chance(RETIRES) ? [by.id] : []), ...own];
}

function byConsole(
  parts: PersonParts,
  of: Of,
  { pem }: Signer,
  retired_key_ids: readonly string[],
): Promise<PlaneAnswer | null> {
  const body = { public_key_pem: pem, retired_key_ids };
  return asked(parts, of, { method: 'post', path: '/signing-keys', body });
}

function byItself(
  parts: PersonParts,
  of: Of,
  what: {
    readonly by: Signer;
    readonly next: Signer;
    readonly sequence: number;
    readonly leaving: readonly string[];
  },
): Promise<PlaneAnswer | null> {
  const { by, next, sequence, leaving } = what;
  const body = rotationOf(by, next, sequence, leaving);
  return asked(parts, of, { method: 'post', path: '/signing-keys/rotations', body });
}
