// The keys that sign policies: none comes but by a trusted one, and none that lies elsewhere is passed by, whatever part of
// the Console is stolen. decision: D80, D81, D83
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { policyKeyOf, policyKeysOf } from '../../actors/runtime/policy-keys.ts';
import { signPack, verifyPack } from '../../actors/runtime/policy-pack.ts';
import type { AssignmentRow } from '../../machines/console/policy/book.rules.ts';
import { rotationMessage } from '../../machines/policy/signing-keys.rules.ts';
import type { PackHead, SignedPack } from '../../machines/wire/policy.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { heartbeatBody, type KeyPair, makeKeys, nth, PATIENT } from './peer.ts';
import { apiOf, draftOf, enrollNode, policyOf } from './policy-stage.ts';
import { openStores } from './stores.fixture.ts';

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

let console: ConsoleUnderTest;
let keys: readonly KeyPair[];
let api: ReturnType<typeof apiOf>;

beforeAll(async () => {
  [console, keys] = await Promise.all([startConsole(), makeKeys(2)]);
  api = apiOf(console, (await console.newKey(['admin'])).secret);
});
afterAll(async () => {
  await console.stop();
  await removeSharedKeys();
});

describe('the keys of policies', PATIENT, () => {
  it('of the Console sign nothing while signing is offline, whatever a stolen session and database say', async () => {
    const offlineStores = await openStores();
    const other = await startConsole({ stores: offlineStores });
    const admin = await other.newSession('admin');
    const headers = { ...admin, 'sec-fetch-site': 'same-origin', 'x-service-csrf': '1' };
    const send = (method: string, path: string, body?: unknown) =>
      other.ask(null, `/api/v2${path}`, body, { method, headers });
    const { identity: node, trustedPem } = await enrollNode(other, 'offline-node', nth(keys, 0));
    const nodeKeys = policyKeysOf(trustedPem);
    let beats = 0;
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
    const { identity, trustedPem } = await enrollNode(console, 'early', nth(keys, 0));
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
    const report = { state: 'removed', policies: [], signing_keys_sha256: '0'.repeat(64) };
    const beat = { ...heartbeatBody(1, []), policy: report };
    const told = (await console.ask(identity, '/sensors/heartbeat', beat)).body;
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
    const late = await enrollNode(console, 'late', nth(keys, 1));
    expect(policyKeysOf(late.trustedPem).map(({ id }) => id)).toEqual([offline.id]);
  });
});
