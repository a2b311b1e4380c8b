// What a publisher knows, as Consoles told it last: packs and their versions, who is assigned what, rollouts, keys.
import { policyKeyOf } from '../../../actors/runtime/policy-keys.ts';
import type { Signer } from '../../crash/node-policies.fixture.ts';
import { BAD_POLICY, PICKY_POLICY } from './engine-policies.ts';
import { asked } from './keeper-acts.ts';
import type { LoneAct } from './lone-person.ts';
import { type PersonParts, putAway } from './person.ts';
import type { PublishedPack } from './policy-observation.ts';
import { drawSigner } from './publisher-signers.ts';
import type { Random } from './random.ts';

export type Of = Parameters<LoneAct>[1];
export type Target = { readonly kind: string; readonly id: string };
export type KnownPack = {
  readonly pack_id: string;
  readonly name: string;
  readonly latest_version: number | null;
};
export type KnownAssignment = {
  readonly target: Target;
  readonly pack_id: string;
  readonly version: number;
  readonly mode: string;
};
export type KnownRollout = KnownAssignment & {
  readonly rollout_id: string;
  readonly state: string;
};
export type KnownSensor = { readonly sensor_id: string; readonly group_ids: readonly string[] };
export type Desk = {
  /** Keys of its own, trusted or not. */
  readonly signers: readonly Signer[];
  /** So many drafts it made: no two of its versions hold the same. */
  drafts: number;
  group: string | null;
  sensors: readonly KnownSensor[];
  packs: readonly KnownPack[];
  versions: readonly PublishedPack[];
  /** What each version held when it was told first, and the numbers that hold something else since PostgreSQL forgot. */
  readonly told: Map<string, string>;
  readonly reused: Set<string>;
  /** PostgreSQL forgot, which may have had a change of keys. */
  isForgotten: boolean;
  /** So many changes of keys it asked for. */
  rotations: number;
  assigned: readonly KnownAssignment[];
  rollouts: readonly KnownRollout[];
  /** Aborted rollouts whose target it gave another version since. */
  readonly mended: Set<string>;
  /** What was told lately of all that is assigned, and since when it was always the same. */
  standing: { readonly text: string; readonly sinceMs: number } | null;
  /** What stands at the end, as it was told; null before. */
  settled: readonly KnownAssignment[] | null;
  settledAtMs: number | null;
  keys: {
    /** The Console's own; null while it signs nothing. */
    readonly own: string | null;
    readonly trusted: readonly string[];
    readonly retired: readonly string[];
    readonly sequence: number;
  };
};

const SIGNERS = 4;

/** Nothing is known yet. */
export function createDesk(random: Random): Desk {
  return {
    signers: Array.from({ length: SIGNERS }, () => drawSigner(random)),
    ...{ drafts: 0, group: null, sensors: [], packs: [], versions: [], assigned: [] },
    ...{
      rollouts: [],
      mended: new Set<string>(),
      standing: null,
      settled: null,
      settledAtMs: null,
    },
    ...{ told: new Map(), reused: new Set(), isForgotten: false, rotations: 0 },
    ...{ keys: { own: null, trusted: [], retired: [], sequence: 0 } },
  };
}

/** PostgreSQL forgot, so that what was told before may stand no more: everything is read again. */
export function forgetTold(desk: Desk): void {
  desk.isForgotten = true;
  desk.versions = [];
  desk.group = null;
  desk.standing = null;
  desk.mended.clear();
}

/** Its own key that nodes trust; undefined when they trust none of them. */
export function ownSigner({ signers, keys }: Desk): Signer | undefined {
  return signers.findLast(({ id }) => keys.trusted.includes(id));
}

/** Whether every engine carries it out, and nodes trust who signed it. */
export function isGood({ keys }: Pick<Desk, 'keys'>, { policies, key }: PublishedPack): boolean {
  const names = policies.map(({ name }) => name);
  const isCarried = !names.includes(BAD_POLICY) && !names.includes(PICKY_POLICY);
  return isCarried && keys.trusted.includes(key);
}

export function isBad({ policies }: Pick<PublishedPack, 'policies'>): boolean {
  return policies.some(({ name }) => name === BAD_POLICY);
}

export function targetText({ kind, id }: Target): string {
  return `${kind}:${id}`;
}

export function isOpen({ state }: KnownRollout): boolean {
  return !['done', 'returned', 'stopped'].includes(state);
}

/** Reads everything; false when something was not heard. */
export async function readDesk(parts: PersonParts, of: Of, desk: Desk): Promise<boolean> {
  const get = async (path: string) => {
    const answer = await asked(parts, of, { method: 'get', path });
    if (answer?.code === 'second_factor_required') putAway(of.person, of.held);
    return answer?.code === null ? answer.body : null;
  };
  const keys = await get('/signing-keys');
  const sensors = await get('/sensors?limit=100');
  const packs = await get('/packs?limit=100');
  const assigned = await get('/assignments?limit=100');
  const rollouts = await get('/rollouts?limit=100');
  if (!keys || !sensors || !packs || !assigned || !rollouts) return false;
  takeKeys(parts, desk, keys);
  desk.sensors = listed<KnownSensor & { readonly trust_state: string }>(sensors).filter(
    ({ trust_state }) => trust_state !== 'trust_revoked',
  );
  desk.packs = listed<KnownPack>(packs);
  desk.assigned = listed<KnownAssignment>(assigned);
  desk.rollouts = listed<KnownRollout>(rollouts);
  for (const { pack_id, latest_version: latest } of desk.packs) {
    const known = desk.versions.some((one) => one.pack === pack_id && one.version === latest);
    if (known || latest === null) continue;
    const body = await get(`/packs/${pack_id}`);
    if (body === null) return false;
    takeVersions(parts, desk, body['versions'] as readonly VersionTold[]);
  }
  return true;
}

function listed<T>(body: Readonly<Record<string, unknown>>): readonly T[] {
  return body['items'] as readonly T[];
}

type VersionTold = {
  readonly manifest: {
    readonly pack_id: string;
    readonly version: number;
    readonly rollback_to: readonly number[];
    readonly policies: readonly { readonly name: string; readonly sha256: string }[];
  };
  readonly key_id: string;
};

function takeVersions({ world }: PersonParts, desk: Desk, told: readonly VersionTold[]): void {
  // Told newest first.
  for (const { manifest, key_id: key } of [...told].reverse()) {
    const { pack_id: pack, version, rollback_to: rollbackTo } = manifest;
    if (desk.versions.some((one) => one.pack === pack && one.version === version)) continue;
    const policies = manifest.policies.map(({ name, sha256: digest }) => ({ name, digest }));
    const published = { pack, version, policies, rollbackTo, key };
    desk.versions = [...desk.versions, published];
    noteTold(desk, published);
    world.observe({ kind: 'pack.published', published });
  }
}

function noteTold({ told, reused }: Desk, { pack, version, policies }: PublishedPack): void {
  const [id, text] = [`${pack}/${version}`, JSON.stringify(policies)];
  if ((told.get(id) ?? text) !== text) reused.add(id);
  told.set(id, text);
}

function takeKeys({ world }: PersonParts, desk: Desk, body: Readonly<Record<string, unknown>>) {
  const keys = body['keys'] as readonly { readonly public_key_pem: string }[];
  const trusted = keys.map(({ public_key_pem: pem }) => policyKeyOf(pem)?.id ?? '');
  if (trusted.join() !== desk.keys.trusted.join()) {
    world.observe({ kind: 'signing_keys.told', keys: trusted });
  }
  desk.keys = {
    own: body['own_key_id'] as string | null,
    trusted,
    retired: body['retired_key_ids'] as readonly string[],
    sequence: Number(body['sequence']),
  };
}
