// The admin that a quick start makes for whoever runs it: one with a password nobody chose, told once. Where anybody can
// administer already, nobody is made. decision: D17, D37; invariant: I11
import type { PasswordHasher } from '../../storage/ports/access/password-hasher.ts';
import type { UserRow, UserStore } from '../../storage/ports/access/users.ts';
import { type Chance, systemChance } from '../trust/chance.ts';

export const FIRST_ADMIN_EMAIL = 'admin@localhost';
const PAGE_USERS = 500;
const PASSWORD_CHARS = 20;
const GROUP_CHARS = 5;
// Without the letters that look like digits: people copy it from a terminal.
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';

/** The admin's address, and its password if it was made just now. */
export type FirstAdmin = {
  readonly userId: string;
  readonly email: string;
  readonly password: string | null;
};

/** Finds an active admin, or makes one. Rejects with StoreUnavailable. */
export async function provideFirstAdmin(deps: {
  readonly users: Pick<UserStore, 'list' | 'create'>;
  readonly hasher: Pick<PasswordHasher, 'hash'>;
  readonly now: () => number;
  readonly chance?: Chance;
}): Promise<FirstAdmin | null> {
  const { users, hasher, chance = systemChance } = deps;
  const known = await findAdmin(users);
  if (known !== null) return { userId: known.userId, email: known.email, password: null };
  const password = newPassword(chance.randomBytes(PASSWORD_CHARS));
  const passwordHash = await hasher.hash(password);
  if (passwordHash === 'busy') return null;
  const userId = chance.newId();
  const made = await users.create({
    ...{ actor: 'quick-start', nowMs: deps.now(), userId },
    ...{ email: FIRST_ADMIN_EMAIL, displayName: '', role: 'admin', passwordHash },
    // It stood on a terminal: its owner sets another before anything else. decision: D63
    mustChangePassword: true,
  });
  return made === 'created' ? { userId, email: FIRST_ADMIN_EMAIL, password } : null;
}

async function findAdmin(users: Pick<UserStore, 'list'>): Promise<UserRow | null> {
  let after: string | null = null;
  for (;;) {
    const page = await users.list({ limit: PAGE_USERS, after });
    const found = page.find(({ role, status }) => role === 'admin' && status === 'active');
    const last = page.at(-1);
    if (found !== undefined) return found;
    if (last === undefined || page.length < PAGE_USERS) return null;
    after = last.email.toLowerCase();
  }
}

function newPassword(random: Uint8Array): string {
  const chars = [...random].map((byte) => ALPHABET[byte % ALPHABET.length] ?? 'x');
  const groups = Array.from({ length: PASSWORD_CHARS / GROUP_CHARS }, (_, at) =>
    chars.slice(at * GROUP_CHARS, (at + 1) * GROUP_CHARS).join(''),
  );
  return groups.join('-');
}
