// What an admin among the people does to a Console as a whole: changes settings, and imports licenses. Both are read again
// now and then, as anybody would who wants to know whether they hold.
import { signLicense } from '../../../actors/license/envelope-signature.ts';
import type { SettingValues } from '../../../machines/console/settings/settings.rules.ts';
import { WORLD_BEGINS_MS } from './clocks.ts';
import { WORLD_LICENSE_KEY } from './console-ports.ts';
import type { Held, Person, PersonParts } from './person.ts';
import { heardAct } from './person-acts.ts';
import { ask, showAgain } from './person-factor.ts';
import type { PlaneAnswer } from './plane-client.ts';
import type { Random } from './random.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
/** No fleet of this world is larger. */
const MANY_NODES = 100_000;

/** Values that a fleet can live with. The lengths of sessions are left: a run has its own. */
const CHOICES: { readonly [Name in keyof SettingValues]?: (random: Random) => unknown } = {
  enrollment_token_ttl_seconds: (random) => random.pick([900, 1_800, 3_600]),
  client_certificate_ttl_hours: (random) => random.pick([100, 500, 1_000]),
  renewal_threshold_seconds: (random) => random.pick([7_200, 43_200, 100_000]),
  analytics_retention_days: (random) => random.between(90, 400),
  license_grace_days: (random) => random.between(0, 90),
  webhook_allow_list: (random) => random.pick([[], ['hooks.world'], ['10.0.0.0/8']]),
  federation_region_label: (random) => `region ${random.between(1, 9)}`,
  mfa_required_roles: (random) => random.pick([[], ['admin'], ['admin', 'operator']]),
};
const NAMES = Object.keys(CHOICES) as (keyof typeof CHOICES)[];

type Item = { readonly name: string; readonly value: unknown; readonly revision: number };

/** Reads all settings; null when nothing was heard or it may not. */
export async function readSettings(
  parts: PersonParts,
  person: Person,
  held: Held,
): Promise<readonly Item[] | null> {
  const asked = parts.world.log.size();
  const heard = await ask(parts, person, held, { method: 'get', path: '/settings' });
  if (heard.isSilent || heard.value.code !== null) return null;
  return tellSettings(parts, heard.value, asked);
}

function tellSettings(
  { world }: PersonParts,
  { console, body }: PlaneAnswer,
  asked: number,
): readonly Item[] {
  const items = (body['items'] as readonly Item[]).map(({ name, value, revision }) => ({
    ...{ name, value, revision },
  }));
  const set = items.filter(({ revision }) => revision > 0);
  const values = set.map((one) => ({ ...one, value: JSON.stringify(one.value) }));
  world.observe({ kind: 'settings.shown', console, asked, values });
  return items;
}

/** Changes one setting, as it was seen; a stale login is refreshed first where that is asked for. */
export async function changeSetting(parts: PersonParts, person: Person, held: Held): Promise<void> {
  const { random, world } = parts;
  const items = await readSettings(parts, person, held);
  const name = random.pick(NAMES);
  const value = CHOICES[name]?.(random);
  const revision = items?.find((one) => one.name === name)?.revision;
  if (revision === undefined) return;
  const asked = world.log.size();
  world.observe({ kind: 'setting.tried', name, value: JSON.stringify(value) });
  const heard = await heardAct(parts, { person, action: 'settings.change', target: name }, () =>
    ask(parts, person, held, {
      ...{ method: 'patch', path: '/settings' },
      body: { values: { [name]: value }, revisions: { [name]: revision } },
    }),
  );
  if (heard.isSilent) return;
  if (heard.value.code === 'fresh_login_required') await showAgain(parts, person, held);
  if (heard.value.code !== null) return;
  const { console } = heard.value;
  const set = { name, value: JSON.stringify(value), revision: revision + 1 };
  world.observe({ kind: 'setting.set', console, ...set });
  tellSettings(parts, heard.value, asked);
}

/** How those are named that outlive the world. */
const LASTING = 'lasting';

/** What the license is; null when nothing was heard or it may not. */
export async function readLicense(
  parts: PersonParts,
  person: Person,
  held: Held,
): Promise<{ readonly license: string | null } | null> {
  const asked = parts.world.log.size();
  const heard = await ask(parts, person, held, { method: 'get', path: '/license' });
  return heard.isSilent || heard.value.code !== null
    ? null
    : tellLicense(parts, heard.value, asked);
}

function tellLicense(
  { world }: PersonParts,
  { console, body }: PlaneAnswer,
  asked: number,
): { readonly license: string | null } {
  const shown = body['license'] as { readonly license_id: string } | null;
  const license = shown?.license_id ?? null;
  world.observe({ kind: 'license.shown', console, asked, license, phase: String(body['phase']) });
  return { license };
}

/** Brings a license that outlives the world where one counts that does not; whether such a one, or none, is there. */
export async function letGrow(parts: PersonParts, person: Person, held: Held): Promise<boolean> {
  const seen = await readLicense(parts, person, held);
  if (seen === null) return false;
  if (seen.license === null || seen.license.startsWith(LASTING)) return true;
  return importLicense(parts, person, held, true);
}

/** Imports a license of minutes and few nodes, or one that outlives the world; answers whether it was taken. */
export async function importLicense(
  parts: PersonParts,
  person: Person,
  held: Held,
  lasts: boolean,
): Promise<boolean> {
  const { world } = parts;
  const license = `${lasts ? LASTING : 'license'}-${world.log.size()}`;
  const terms = lasts ? lasting(parts) : drawTerms(parts);
  const signed = signLicense(
    {
      ...{ customer_id: 'world', workspace_id: 'world', license_id: license, plan: 'fleet' },
      max_protected_nodes: terms.nodes,
      valid_from: text(terms.fromMs),
      valid_until: text(terms.untilMs),
      grace_until: text(terms.graceMs),
      issued_at: text(terms.issuedMs),
    },
    WORLD_LICENSE_KEY,
  );
  if (!signed.ok) throw new Error(JSON.stringify(signed));
  const asked = world.log.size();
  world.observe({ kind: 'license.tried', license });
  const heard = await heardAct(parts, { person, action: 'license.import', target: license }, () =>
    ask(parts, person, held, { path: '/license', body: signed.envelope }),
  );
  if (heard.isSilent) return false;
  if (heard.value.code !== null) {
    world.observe({ kind: 'license.refused', license });
    return false;
  }
  const { nodes, graceMs: graceUntilMs } = terms;
  const { console } = heard.value;
  world.observe({ kind: 'license.imported', console, license, nodes, graceUntilMs, lasts });
  tellLicense(parts, heard.value, asked);
  return true;
}

type Terms = Record<'nodes' | 'fromMs' | 'untilMs' | 'graceMs' | 'issuedMs', number>;

function drawTerms({ random, world }: PersonParts): Terms {
  const nowMs = WORLD_BEGINS_MS + world.scheduler.now();
  const fromMs = nowMs + random.pick([-60, -60, 2, 6]) * MINUTE_MS;
  const untilMs = nowMs + random.between(7, 15) * MINUTE_MS;
  const graceMs = untilMs + random.between(0, 4) * MINUTE_MS;
  return { nodes: random.between(0, 3), fromMs, untilMs, graceMs, issuedMs: nowMs };
}

function lasting({ world }: PersonParts): Terms {
  const nowMs = WORLD_BEGINS_MS + world.scheduler.now();
  const untilMs = nowMs + 10_000 * DAY_MS;
  return { nodes: MANY_NODES, fromMs: nowMs - DAY_MS, untilMs, graceMs: untilMs, issuedMs: nowMs };
}

function text(ms: number): string {
  return new Date(Math.round(ms)).toISOString();
}
