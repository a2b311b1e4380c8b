// What a first start is given from outside: a license, the first administrator, settings. It comes from the file of cloud
// mode, from the answers of the first run, or from a quick start, and is put in place only where there is nothing yet, so
// that every start may do it again. Everything is judged before anything is changed. decision: D42
import { isEmail } from '../../machines/console/access/account.rules.ts';
import { mistakeOfPasswordHash } from '../../machines/console/access/password.rules.ts';
import {
  mistakesOfChange,
  SETTING_DEFAULTS,
} from '../../machines/console/settings/settings.rules.ts';
import type { Refusal } from '../../machines/errors.ts';
import type { UserStore } from '../../storage/ports/access/users.ts';
import type { LicenseService } from '../license/license-service.ts';
import type { Logger } from '../runtime/logger.ts';
import type { SettingsService } from '../settings/settings-service.ts';
import { type Chance, systemChance } from '../trust/chance.ts';
import type { Passwords } from './passwords.ts';

const PAGE_USERS = 500;

export type ProvisionedAdmin = {
  readonly email: string;
  readonly displayName: string;
  /** An argon2id hash, or the password it is made from. */
  readonly secret: { readonly passwordHash: string } | { readonly password: string };
};
export type ProvisionInput = {
  /** An envelope; it is verified like any that is imported. */
  readonly license: unknown;
  readonly admin: ProvisionedAdmin | null;
  readonly settings: Readonly<Record<string, unknown>>;
};
/** What was found and what was done. */
export type Provisioned = {
  readonly ok: true;
  readonly license: 'none' | 'present' | 'imported' | 'ended';
  readonly admin: 'none' | 'present' | 'created';
};
export type ProvisionResult =
  | Provisioned
  | { readonly ok: false; readonly mistakes: readonly string[] };

export type ProvisionDeps = {
  readonly users: Pick<UserStore, 'list' | 'create' | 'findByEmail'>;
  readonly passwords: Pick<Passwords, 'accept'>;
  readonly license: Pick<LicenseService, 'view' | 'check' | 'import'>;
  readonly settings: Pick<SettingsService, 'provision'>;
  readonly now: () => number;
  readonly logger: Logger;
  readonly chance?: Chance;
};

/** Puts in place what is missing. Rejects with StoreUnavailable; `actor` stands in the audit trail. */
export async function provision(
  deps: ProvisionDeps,
  input: ProvisionInput,
  actor: 'provisioning' | 'setup' | 'quick-start',
): Promise<ProvisionResult> {
  const hasAdmin = await isAdminThere(deps.users);
  const judged = await judge(deps, input, hasAdmin);
  if (!judged.ok) return judged;
  const settings = await deps.settings.provision({ actor, values: input.settings });
  if (!settings.ok) return { ok: false, mistakes: mistakesIn('settings', settings) };
  const license = await provideLicense(deps, input.license, actor);
  if (!license.ok) return license;
  const { passwordHash } = judged;
  if (input.admin === null || passwordHash === null) {
    return { ok: true, license: license.license, admin: hasAdmin ? 'present' : 'none' };
  }
  const admin = await createAdmin(deps, { ...input.admin, passwordHash }, actor);
  return admin.ok ? { ok: true, license: license.license, admin: admin.admin } : admin;
}

/** Whether anybody can let others in. Once there was an active admin there always is one. */
export async function isAdminThere(users: Pick<UserStore, 'list'>): Promise<boolean> {
  let after: string | null = null;
  for (;;) {
    const page = await users.list({ limit: PAGE_USERS, after });
    if (page.some(({ role, status }) => role === 'admin' && status === 'active')) return true;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_USERS) return false;
    after = last.email.toLowerCase();
  }
}

async function judge(
  deps: ProvisionDeps,
  input: ProvisionInput,
  hasAdmin: boolean,
): Promise<
  | { readonly ok: true; readonly passwordHash: string | null }
  | { readonly ok: false; readonly mistakes: readonly string[] }
> {
  const mistakes = mistakesOfChange(SETTING_DEFAULTS, input.settings).map(
    ({ name, at, detail }) => `settings.${name}${at}: ${detail}`,
  );
  if (input.license !== null) {
    const checked = deps.license.check(input.license);
    if (!checked.ok) mistakes.push(...mistakesIn('license', checked));
  }
  const admin = await judgeAdmin(deps, input.admin, hasAdmin);
  if (!admin.ok) mistakes.push(...admin.mistakes);
  if (mistakes.length > 0) return { ok: false, mistakes };
  return { ok: true, passwordHash: admin.ok ? admin.passwordHash : null };
}

// A password is hashed only where it is needed: that costs time at every start.
async function judgeAdmin(
  { passwords }: Pick<ProvisionDeps, 'passwords'>,
  admin: ProvisionedAdmin | null,
  hasAdmin: boolean,
): Promise<
  | { readonly ok: true; readonly passwordHash: string | null }
  | { readonly ok: false; readonly mistakes: readonly string[] }
> {
  if (admin === null) return { ok: true, passwordHash: null };
  const mistakes = isEmail(admin.email) ? [] : ['admin.email: must be an e-mail address'];
  const { secret } = admin;
  if ('passwordHash' in secret) {
    const mistake = mistakeOfPasswordHash(secret.passwordHash);
    if (mistake !== null) mistakes.push(`admin.password_hash: ${mistake}`);
    if (mistakes.length > 0) return { ok: false, mistakes };
    return { ok: true, passwordHash: hasAdmin ? null : secret.passwordHash };
  }
  if (hasAdmin && mistakes.length === 0) return { ok: true, passwordHash: null };
  const accepted = await passwords.accept(secret.password, admin.email);
  if (!accepted.ok) mistakes.push(`admin.password: ${accepted.detail}`);
  if (mistakes.length > 0 || !accepted.ok) return { ok: false, mistakes };
  return { ok: true, passwordHash: accepted.hash };
}

async function provideLicense(
  { license, logger }: Pick<ProvisionDeps, 'license' | 'logger'>,
  envelope: unknown,
  actor: string,
): Promise<
  | { readonly ok: true; readonly license: Provisioned['license'] }
  | { readonly ok: false; readonly mistakes: readonly string[] }
> {
  const { license: inForce } = license.view();
  if (envelope === null) return { ok: true, license: inForce === null ? 'none' : 'present' };
  const checked = license.check(envelope);
  // An older one than the one in force was replaced by an operator since.
  if (checked.ok && inForce !== null && checked.facts.issuedAtMs <= inForce.issuedAtMs) {
    return { ok: true, license: 'present' };
  }
  const imported = await license.import({ envelope, actor });
  if (imported.ok) return { ok: true, license: imported.isChanged ? 'imported' : 'present' };
  // A license that has ended limits new nodes and nothing else: it does not stop a start.
  if (imported.code === 'license_ended') {
    logger.warn('the provisioned license has ended and was not imported');
    return { ok: true, license: 'ended' };
  }
  return { ok: false, mistakes: mistakesIn('license', imported) };
}

async function createAdmin(
  deps: ProvisionDeps,
  admin: { readonly email: string; readonly displayName: string; readonly passwordHash: string },
  actor: string,
): Promise<
  | { readonly ok: true; readonly admin: Provisioned['admin'] }
  | { readonly ok: false; readonly mistakes: readonly string[] }
> {
  const { email, displayName, passwordHash } = admin;
  const made = await deps.users.create({
    ...{ actor, nowMs: deps.now(), userId: (deps.chance ?? systemChance).newId() },
    ...{ email, displayName, role: 'admin', passwordHash },
    // Whoever wrote the file knows it; in a setup the administrator types it. decision: D63
    mustChangePassword: actor === 'provisioning',
  });
  if (made === 'created') return { ok: true, admin: 'created' };
  // Another Console on the same database may have been faster.
  const user = await deps.users.findByEmail(email);
  if (user?.role === 'admin' && user.status === 'active') return { ok: true, admin: 'present' };
  return {
    ok: false,
    mistakes: ['admin.email: an account has this address and is no active administrator'],
  };
}

function mistakesIn(where: string, { detail, errors = [] }: Refusal): readonly string[] {
  if (errors.length === 0) return [`${where}: ${detail}`];
  return errors.map((one) => `${where}${one.pointer.replaceAll('/', '.')}: ${one.detail}`);
}
