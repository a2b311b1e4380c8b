// Policies from an operator's hand to one node: what is published never changes, a node is given only what is its own now,
// every pack verifies with the keys it got when it enrolled, and no key comes but by a trusted one. decision: D80, D81, D83
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { policyKeyOf, policyKeysOf } from '../../actors/runtime/policy-keys.ts';
import { signPack, verifyPack } from '../../actors/runtime/policy-pack.ts';
import type { AssignmentRow } from '../../machines/console/policy/book.rules.ts';
import { rotationMessage } from '../../machines/policy/signing-keys.rules.ts';
import type { PackAssignment, PackHead, SignedPack } from '../../machines/wire/policy.ts';
import {
  type ConsoleUnderTest,
  openStores,
  removeSharedKeys,
  startConsole,
} from './console.fixture.ts';
import {
  enrollBody,
  heartbeatBody,
  type Identity,
  type KeyPair,
  makeKeys,
  nth,
  PATIENT,
} from './peer.ts';

const policyOf = (name: string, path = '/etc/shadow') => ({
  name,
  yaml: `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata: {name: ${name}}
spec:
  kprobes:
    - call: sys_openat
      syscall: true
      args: [{index: 1, type: string}]
      selectors: [{matchArgs: [{index: 1, operator: Equal, values: [${path}]}]}]
`,
});
const draftOf = (policies: readonly unknown[], more = {}) => ({
  ...{ mode: 'monitor', modes_allowed: ['monitor', 'enforce'] },
  ...{ namespace_scope: null, rollback_to: [], policies, ...more },
});

let console: ConsoleUnderTest;
let keys: readonly KeyPair[];
let identity: Identity;
let trustedPem: string;
let secret: string;
let made = 0;
let beats = 0;
let nodes = 0;
/** One key serves one identity. */
const NODES = 14;

async function api(method: string, path: string, body?: unknown, as = secret) {
  const headers = { authorization: `Bearer ${as}` };
  const answer = await console.ask(null, `/api/v2${path}`, body, { method, headers });
  return { status: answer.status, code: answer.body['code'], body: answer.body };
}
async function enroll(): Promise<Identity> {
  const pair = nth(keys, nodes);
  nodes += 1;
  const token = await console.newToken();
  const answer = await console.ask(
    null,
    '/sensors/enroll',
    enrollBody(token, `pol-${nodes}`, pair),
  );
  trustedPem = String(answer.body['policy_signing_public_key_pem']);
  return {
    sensorId: String(answer.body['sensor_id']),
    cert: String(answer.body['control_plane_certificate_pem']),
    key: pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}
const reportOf = (pack: Extract<PackAssignment, { pack_id: string }>, state = 'monitoring') => ({
  ...{ assignment_id: pack.assignment_id, pack_id: pack.pack_id, version: pack.version, state },
  ...{ manifest_sha256: pack.manifest_sha256, highest_version: pack.version },
  ...{ signing_keys_sha256: '0'.repeat(64), policies: [] },
});
async function beat(who: Identity, policy?: unknown) {
  beats += 1;
  const body = { ...heartbeatBody(beats, []), ...(policy === undefined ? {} : { policy }) };
  return (await console.ask(who, '/sensors/heartbeat', body)).body;
}
const download = (who: Identity, path: string, headers = {}) =>
  console.ask(who, path, undefined, { method: 'GET', headers });
async function publish(policies: readonly unknown[], more = {}) {
  made += 1;
  const pack = await api('POST', '/packs', {
    name: `pack ${made}`,
    draft: draftOf(policies, more),
  });
  const id = String(pack.body['pack_id']);
  const version = await api('POST', `/packs/${id}/publish`, {});
  expect(version.status, JSON.stringify(version)).toBe(200);
  return { id, sha: String(version.body['manifest_sha256']) };
}
const assign = (packId: string, target: object, more = {}) =>
  api('POST', '/assignments', { target, pack_id: packId, version: 1, mode: 'monitor', ...more });
const toSensor = () => ({ kind: 'sensor', id: identity.sensorId });

beforeAll(async () => {
  [console, keys] = await Promise.all([startConsole(), makeKeys(NODES)]);
  secret = (await console.newKey(['admin'])).secret;
});
beforeEach(async () => {
  identity = await enroll();
});
afterAll(async () => {
  await console.stop();
  await removeSharedKeys();
});

describe('a pack', PATIENT, () => {
  it('reaches a node whole, verified with what the node got when it enrolled', async () => {
    const { id, sha } = await publish([policyOf('one'), policyOf('two')]);
    expect((await beat(identity))['pack_assignment']).toBeUndefined();
    expect((await assign(id, toSensor())).status).toBe(200);
    const wanted = (await beat(identity))['pack_assignment'] as Extract<
      PackAssignment,
      { pack_id: string }
    >;
    expect(wanted).toMatchObject({
      pack_id: id,
      version: 1,
      manifest_sha256: sha,
      mode: 'monitor',
    });
    const answer = await download(identity, wanted.path);
    expect([answer.status, answer.headers.etag]).toEqual([200, `"${sha}"`]);
    const pack = answer.body as unknown as SignedPack;
    const verdict = verifyPack(pack, policyKeysOf(trustedPem));
    expect(verdict).toMatchObject({ ok: true, manifestSha256: sha });
    const again = await download(identity, wanted.path, { 'if-none-match': `"${sha}"` });
    expect(again.status).toBe(304);
    // Told until the node says that it has it, and once more when it lost it.
    expect((await beat(identity))['pack_assignment']).toEqual(wanted);
    const settled = await beat(identity, reportOf(wanted));
    expect(settled['pack_assignment']).toBeUndefined();
    expect(settled['stored_sections']).toMatchObject({
      policy: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect((await beat(identity))['pack_assignment']).toBeUndefined();
    const view = await api('GET', `/sensors/${identity.sensorId}/policy`);
    expect(view.body).toMatchObject({
      pack: { pack_id: id, because: 'assigned to this sensor' },
      reported: { state: 'monitoring' },
    });
  });

  it('is there for nobody but the sensor it is assigned to now, whether it exists or not', async () => {
    const { id } = await publish([policyOf('one')]);
    const other = await enroll();
    await assign(id, toSensor());
    const path = `/sensors/policies/${id}/1`;
    expect((await download(identity, path)).status).toBe(200);
    const answers = [
      await download(other, path),
      await download(identity, `/sensors/policies/${id}/2`),
      await download(identity, '/sensors/policies/00000000-0000-7000-8000-000000000000/1'),
      await download(identity, '/sensors/policies/custom/1'),
      await download(identity, `/sensors/policies/${id}/1%2f..`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    expect((await console.ask(null, path, undefined, { method: 'GET' })).status).toBe(401);
    expect((await console.ask(identity, path, {})).status).toBe(405);
    expect((await api('DELETE', `/assignments/sensor/${identity.sensorId}`)).status).toBe(204);
    expect((await download(identity, path)).status).toBe(404);
  });

  it('never changes once it is published', async () => {
    const { id, sha } = await publish([policyOf('one')]);
    const before = await api('GET', `/packs/${id}/versions/1`);
    const draft = await api('GET', `/packs/${id}/draft`);
    const body = { revision: draft.body['revision'], draft: draftOf([policyOf('other')]) };
    expect((await api('PUT', `/packs/${id}/draft`, body)).status).toBe(200);
    expect((await api('PUT', `/packs/${id}/draft`, body)).code).toBe('draft_changed');
    expect((await api('POST', '/packs/signed', { pack: before.body })).code).toBe(
      'version_not_newer',
    );
    expect(
      (await api('POST', `/packs/${id}/publish`, { dry_run: true })).body['manifest'],
    ).toMatchObject({ version: 2 });
    expect((await api('GET', `/packs/${id}/versions/2`)).status).toBe(404);
    expect((await api('GET', `/packs/${id}/versions/1`)).body).toEqual(before.body);
    const told = (await console.audited()).filter(({ target }) => target === id);
    const published = told.find(({ action }) => action === 'pack.publish');
    expect(published?.after).toMatchObject({ version: 1, manifest_sha256: sha });
  });

  it('is refused with line and column when no engine can honour it', async () => {
    const wrong = { name: 'one', yaml: policyOf('one').yaml.replace('Equal', 'Begins') };
    const pack = await api('POST', '/packs', { name: 'wrong', draft: draftOf([wrong]) });
    const refused = await api('POST', `/packs/${pack.body['pack_id']}/publish`, {});
    expect([refused.status, refused.code]).toEqual([422, 'policy_refused']);
    expect(JSON.stringify(refused.body['errors'])).toContain('line 9, column');
    const checks = await api('POST', '/packs/check', {
      policies: [wrong, policyOf('../x'), policyOf('ok')],
    });
    const items = checks.body['items'] as { ok: boolean; engines: string[] }[];
    expect(items.map((one) => one.ok)).toEqual([false, false, true]);
    expect(items[2]?.engines).toEqual(['ebpf', 'tetragon']);
  });
});

describe('an assignment', PATIENT, () => {
  it('never goes beyond what is signed', async () => {
    const { id } = await publish([policyOf('one')], {
      ...{ modes_allowed: ['monitor'], namespace_scope: ['web'] },
    });
    const asked = (more: object) => assign(id, toSensor(), more);
    expect((await asked({ mode: 'enforce', namespace_scope: ['web'] })).code).toBe(
      'mode_not_signed',
    );
    expect((await asked({})).code).toBe('scope_not_signed');
    expect((await asked({ namespace_scope: ['web', 'db'] })).code).toBe('scope_not_signed');
    expect((await asked({ namespace_scope: ['web'] })).status).toBe(200);
    expect((await asked({ version: 9, namespace_scope: ['web'] })).code).toBe('reference_unknown');
    const nobody = { kind: 'sensor', id: '00000000-0000-7000-8000-000000000000' };
    expect((await assign(id, nobody, { namespace_scope: ['web'] })).code).toBe('reference_unknown');
  });

  it('goes back only to a version that the newer one names', async () => {
    const { id } = await publish([policyOf('one')]);
    for (const rollback_to of [[], [1]]) {
      const { body } = await api('GET', `/packs/${id}/draft`);
      const draft = draftOf([policyOf('one')], { rollback_to });
      await api('PUT', `/packs/${id}/draft`, { revision: body['revision'], draft });
      await api('POST', `/packs/${id}/publish`, {});
    }
    await assign(id, toSensor(), { version: 2 });
    expect((await assign(id, toSensor(), { version: 1 })).code).toBe('rollback_refused');
    expect((await assign(id, toSensor(), { version: 3 })).status).toBe(200);
    expect((await assign(id, toSensor(), { version: 1 })).status).toBe(200);
  });

  it('counts by sensor, group with its priority, tag, fleet, and says why', async () => {
    const packs = [];
    for (const name of ['fleet', 'tag', 'low', 'high', 'own'])
      packs.push((await publish([policyOf(name)])).id);
    const [fleet = '', tag = '', low = '', high = '', own = ''] = packs;
    const groups = [];
    for (const name of ['a-low', 'z-high']) {
      const { body } = await api('POST', '/groups', { name });
      groups.push(String(body['id']));
      await api('POST', `/groups/${body['id']}/members`, { add_sensors: [identity.sensorId] });
    }
    await api('PATCH', `/sensors/${identity.sensorId}`, { tags: ['edge'] });
    const reason = async () => {
      await console.loops.runNow('policy-follow');
      const { body } = await api('GET', `/sensors/${identity.sensorId}/policy`);
      const { pack_id, because } = body['pack'] as { pack_id: string; because: string };
      return [pack_id, because];
    };
    await assign(fleet, { kind: 'fleet', id: 'fleet' });
    await expect.poll(reason).toEqual([fleet, 'assigned to the fleet']);
    await assign(tag, { kind: 'tag', id: 'edge' });
    await expect.poll(reason).toEqual([tag, 'assigned to its tag edge']);
    await assign(low, { kind: 'group', id: groups[0] });
    await expect.poll(reason).toEqual([low, 'assigned to its group a-low (priority 0)']);
    await assign(high, { kind: 'group', id: groups[1] }, { priority: 5 });
    await expect.poll(reason).toEqual([high, 'assigned to its group z-high (priority 5)']);
    await assign(own, toSensor());
    await expect.poll(reason).toEqual([own, 'assigned to this sensor']);
    const { body } = await api('GET', `/sensors/${identity.sensorId}/policy`);
    expect((body['passed_over'] as { pack_id: string }[]).map((one) => one.pack_id)).toEqual([
      high,
      low,
      tag,
      fleet,
    ]);
    await api('DELETE', '/assignments/fleet/fleet');
  });

  it('is told at once on the stream, and its end with the next heartbeat', async () => {
    const { id } = await publish([policyOf('one')]);
    const stream = await console.openStream(identity);
    stream.hello('1'.repeat(32));
    await stream.next('welcome');
    await assign(id, toSensor());
    expect(await stream.next('refresh')).toMatchObject({ what: ['policy'] });
    const wanted = (await beat(identity))['pack_assignment'] as Extract<
      PackAssignment,
      { pack_id: string }
    >;
    await beat(identity, reportOf(wanted, 'enforcing'));
    await api('DELETE', `/assignments/sensor/${identity.sensorId}`);
    expect((await beat(identity))['pack_assignment']).toEqual({
      assignment_id: wanted.assignment_id,
      removed: true,
    });
    stream.socket.close();
    await stream.closed;
  });
});

describe("a sensor's own policies and its switch", PATIENT, () => {
  it('are signed, downloaded by their revision, and told while the node has others', async () => {
    const at = `/sensors/${identity.sensorId}/policy`;
    expect((await api('PUT', `${at}/custom`, { policies: [policyOf('mine')] })).status).toBe(200);
    expect((await api('PUT', `${at}/enforcement`, { mode: 'off' })).status).toBe(200);
    const told = await beat(identity);
    expect(told['enforcement_policy']).toEqual({ revision: 1, mode: 'off' });
    expect(told['custom_policies']).toMatchObject({ revision: 1, policies: [{ name: 'mine' }] });
    const { path } = told['custom_policies'] as { path: string };
    const answer = await download(identity, path);
    expect(answer.body).toMatchObject({ revision: 1, policies: [{ name: 'mine' }] });
    expect((await download(await enroll(), path)).status).toBe(404);
    const forged = [{ ...policyOf('mine'), signature: `${'A'.repeat(86)}==` }];
    expect((await api('PUT', `${at}/custom`, { policies: forged })).code).toBe(
      'signature_not_trusted',
    );
  });
});

describe('the keys', PATIENT, () => {
  type Pair = { readonly id: string; readonly pem: string; readonly secret: KeyObject };
  function makePair(): Pair {
    const secretKey = generateKeyPairSync('ed25519').privateKey;
    const pem = createPublicKey(secretKey).export({ format: 'pem', type: 'spki' }).toString();
    const key = policyKeyOf(pem);
    if (key === null) throw new Error('no key');
    return {
      id: key.id,
      pem: key.pem,
      secret: createPrivateKey(secretKey.export({ format: 'pem', type: 'pkcs8' })),
    };
  }
  const statementOf = (by: Pair, next: Pair, sequence: number, retired: readonly string[]) => {
    const rest = {
      sequence,
      new_key_pem: next.pem,
      retired_key_ids: [...retired],
      by_key_id: by.id,
    };
    return { ...rest, signature: sign(null, rotationMessage(rest), by.secret).toString('base64') };
  };
  const headOf = (): PackHead => ({
    ...{
      pack_id: crypto.randomUUID(),
      version: 1,
      name: `offline ${crypto.randomUUID()}`,
      flavor: 'standard',
    },
    ...{ mode: 'enforce', modes_allowed: ['enforce'], namespace_scope: null, rollback_to: [] },
  });

  it('of the Console sign nothing while signing is offline, whatever a stolen session and database say', async () => {
    const offlineStores = openStores();
    const other = await startConsole({ stores: offlineStores });
    const admin = await other.newSession('admin');
    const headers = { ...admin, 'sec-fetch-site': 'same-origin', 'x-service-csrf': '1' };
    const send = (method: string, path: string, body?: unknown) =>
      other.ask(null, `/api/v2${path}`, body, { method, headers });
    const pair = nth(keys, NODES - 1);
    const token = await other.newToken();
    const enrolled = await other.ask(
      null,
      '/sensors/enroll',
      enrollBody(token, 'offline-node', pair),
    );
    const node = {
      sensorId: String(enrolled.body['sensor_id']),
      cert: String(enrolled.body['control_plane_certificate_pem']),
      key: pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    };
    const nodeKeys = policyKeysOf(String(enrolled.body['policy_signing_public_key_pem']));
    const settingsOf = async () => {
      const { body } = await send('GET', '/settings');
      const items = body['items'] as { name: string; value: unknown; revision: number }[];
      return items.find(({ name }) => name === 'policy_signing');
    };
    const set = async (value: unknown) => {
      const revision = (await settingsOf())?.revision ?? 0;
      const body = { values: { policy_signing: value }, revisions: { policy_signing: revision } };
      return send('PATCH', '/settings', body);
    };
    const before = await send('POST', '/packs', {
      ...{ name: 'signed before', draft: draftOf([policyOf('one')]) },
    });
    const signedBefore = String(before.body['pack_id']);
    expect((await send('POST', `/packs/${signedBefore}/publish`, {})).status).toBe(200);
    expect((await set('offline')).status).toBe(200);
    // Neither another value nor the default brings the key back into use.
    for (const value of ['console', null]) {
      const back = await set(value);
      expect([back.status, JSON.stringify(back.body)]).toEqual([
        422,
        expect.stringContaining('for good'),
      ]);
    }
    // Each way to a signature of the Console is shut.
    const draft = draftOf([policyOf('evil')]);
    const pack = await send('POST', '/packs', { name: 'evil', draft });
    const evil = policyOf('evil');
    const thief = makePair();
    const answers = [
      await send('POST', `/packs/${pack.body['pack_id']}/publish`, {}),
      await send('POST', '/policies/sign', evil),
      await send('POST', '/signing-keys', { public_key_pem: thief.pem }),
      await send('PUT', `/sensors/${node.sensorId}/policy/custom`, { policies: [evil] }),
    ];
    expect(answers.map(({ body }) => body['code'])).toEqual(answers.map(() => 'signing_offline'));
    const forged = signPack(headOf(), [evil], (bytes) => sign(null, bytes, thief.secret));
    const published = await send('POST', '/packs/signed', { pack: forged });
    expect(published.body['code']).toBe('signature_not_trusted');
    // Whoever writes the database puts rows there that no act made: the node is given them and refuses.
    const { revision } = await offlineStores.relational.policies.load();
    const { policies, manifest_signature: _signature, ...head } = forged;
    const named = policies.map(({ name }) => ({ name, sha256: '0'.repeat(64) }));
    const version = {
      ...{ manifest: { ...head, policies: named }, manifestSha256: '0'.repeat(64) },
      ...{ keyId: thief.id, publishedAtMs: 0, publishedBy: 'thief' },
    };
    const assignment: AssignmentRow = {
      ...{ assignmentId: crypto.randomUUID(), target: { kind: 'fleet', id: 'fleet' } },
      ...{ packId: forged.pack_id, version: 1, mode: 'enforce', namespaceScope: null },
      ...{ whenUnsupported: 'fail', priority: 0, createdAtMs: 0, createdBy: 'thief' },
    };
    await offlineStores.relational.policies.commit({
      ...{ revision, nowMs: 0, audit: [], moves: [] },
      changes: [
        { kind: 'version', id: `${forged.pack_id}/1`, head: version, body: forged },
        { kind: 'assignment', id: 'fleet:fleet', head: assignment },
      ],
    });
    other.loops.runNow('policy-follow');
    await expect
      .poll(async () => {
        beats += 1;
        const answer = await other.ask(node, '/sensors/heartbeat', heartbeatBody(beats, []));
        return (answer.body['pack_assignment'] as { pack_id?: string } | undefined)?.pack_id;
      })
      .toBe(forged.pack_id);
    const path = `/sensors/policies/${forged.pack_id}/1`;
    const given = (await other.ask(node, path, undefined, { method: 'GET' })).body;
    expect(nodeKeys).toHaveLength(1);
    expect(verifyPack(given as unknown as SignedPack, nodeKeys)).toMatchObject({ ok: false });
    await other.stop();
  });

  // The last of this file: what is retired never returns.
  it('move to one that lies elsewhere; then a stolen Console signs nothing that nodes trust', async () => {
    const [own] = policyKeysOf(trustedPem);
    const [offline, thief] = [makePair(), makePair()];
    const session = await console.newSession('admin');
    const as = {
      ...session,
      'sec-fetch-site': 'same-origin',
      'x-service-csrf': '1',
    };
    const post = (path: string, body: unknown) =>
      console.ask(null, `/api/v2${path}`, body, { headers: as });
    const refused = await post('/signing-keys/rotations', statementOf(thief, thief, 1, []));
    expect(refused.body['code'], JSON.stringify(refused.body)).toBe('rotation_refused');
    const moved = await post('/signing-keys', {
      public_key_pem: offline.pem,
      retired_key_ids: [own?.id],
    });
    expect(moved.status, JSON.stringify(moved.body)).toBe(200);
    // A node that trusts the old key is told the chain.
    const told = await beat(identity, {
      state: 'removed',
      policies: [],
      signing_keys_sha256: '0'.repeat(64),
    });
    expect(told['signing_key_rotations']).toMatchObject([{ sequence: 1, by_key_id: own?.id }]);
    // With the whole Console in hand: its key, its database, an admin.
    const signed = (pair: Pair) =>
      signPack(headOf(), [policyOf('evil')], (bytes) => sign(null, bytes, pair.secret));
    expect((await api('POST', '/packs/signed', { pack: signed(thief) })).code).toBe(
      'signature_not_trusted',
    );
    const pack = await api('POST', '/packs', {
      name: 'stolen',
      draft: draftOf([policyOf('evil')]),
    });
    const byOwn = await api('POST', `/packs/${pack.body['pack_id']}/publish`, {});
    expect(byOwn.code).toBe('signature_not_trusted');
    const back = await post('/signing-keys', { public_key_pem: String(own?.pem) });
    expect(back.body['code']).toBe('rotation_refused');
    // What is signed where the key lies is published as it is.
    expect((await api('POST', '/packs/signed', { pack: signed(offline) })).status).toBe(200);
    await enroll();
    expect(policyKeysOf(trustedPem).map(({ id }) => id)).toEqual([offline.id]);
  });
});
