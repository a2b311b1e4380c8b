// Policies from an operator's hand to one node: what is published never changes, a node is given only what is its own now,
// and every pack verifies with the keys it got when it enrolled. decision: D80, D81, D83
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { policyKeysOf } from '../../actors/runtime/policy-keys.ts';
import { verifyPack } from '../../actors/runtime/policy-pack.ts';
import type { PackAssignment, SignedPack } from '../../machines/wire/policy.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { heartbeatBody, type Identity, type KeyPair, makeKeys, nth, PATIENT } from './peer.ts';
import { apiOf, draftOf, enrollNode, policyOf } from './policy-stage.ts';

let console: ConsoleUnderTest;
let keys: readonly KeyPair[];
let identity: Identity;
let trustedPem: string;
let api: ReturnType<typeof apiOf>;
let made = 0;
let beats = 0;
let nodes = 0;
/** One key serves one identity. */
const NODES = 12;

async function enroll(): Promise<Identity> {
  const pair = nth(keys, nodes);
  nodes += 1;
  const node = await enrollNode(console, `pol-${nodes}`, pair);
  trustedPem = node.trustedPem;
  return node.identity;
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
  api = apiOf(console, (await console.newKey(['admin'])).secret);
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

  it('gets a number that no node has, also of a version that the database forgot', async () => {
    const { id, sha } = await publish([policyOf('one')]);
    const had = { pack_id: id, manifest_sha256: sha };
    const said = (version: number) => ({
      ...{ ...had, version, highest_version: version, in_force: { ...had, version } },
      ...{ state: 'monitoring', signing_keys_sha256: '0'.repeat(64), policies: [] },
    });
    const next = async () => {
      const { body } = await api('POST', `/packs/${id}/publish`, {});
      return (body['manifest'] as SignedPack).version;
    };
    await beat(identity, said(7));
    expect(await next()).toBe(8);
    // One that lies does not use up the numbers.
    await beat(identity, said(999_999_999));
    expect(await next()).toBe(9);
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
