// What reaches a node instead of its pack: every byte of it another one, a part of it left out or from another, another
// key. All of it is refused, and the pack before stays in force.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { policyKeysOf } from '../../actors/runtime/policy-keys.ts';
import type { SignedPack } from '../../machines/wire/policy.ts';
import { exactKeysOf } from '../../sensor/engine/policy/exact-keys.ts';
import { verifyAssignedPack } from '../../sensor/engine/policy/verified-set.ts';
import { diskFiles } from '../../sensor/state-directory/file-port.ts';
import {
  assignmentOf,
  newSigner,
  packOf,
  startTestNode,
  type TestNode,
  yamlOf,
} from '../crash/node-policies.fixture.ts';

const TIMEOUT_MS = 300_000;
const signer = newSigner();
const pack = packOf(signer, 2, { one: '/a', two: '/b' }, { rollback_to: [1] });
const assigned = assignmentOf(pack);
const keys = policyKeysOf(signer.pem);
const judged = (body: unknown, by = keys) => verifyAssignedPack(body, assigned, by);

/** As a parser makes it of bytes; undefined = it is no JSON. */
function read(bytes: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    return value;
  } catch {
    return undefined;
  }
}

describe('a pack with another byte', () => {
  it(
    'should be refused, whichever byte of policies, names, sidecars or manifest it is, and whichever bit',
    async () => {
      const text = Buffer.from(JSON.stringify(pack));
      expect(await judged(read(text))).toMatchObject({ ok: true });
      let refused = 0;
      for (let at = 0; at < text.length; at += 1) {
        const bytes = Uint8Array.from(text);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
        const verdict = await judged(read(bytes));
        expect(verdict.ok, `byte ${at}: ${Buffer.from(bytes.subarray(at - 20, at + 20))}`).toBe(
          false,
        );
        refused += 1;
      }
      expect(refused).toBe(text.length);
    },
    TIMEOUT_MS,
  );

  it('should be refused under a key file with another byte', async () => {
    const text = Buffer.from(signer.pem);
    expect(await judged(pack, await exactKeysOf(text.toString()))).toMatchObject({ ok: true });
    for (let at = 0; at < text.length; at += 1) {
      for (const bit of [0, 3, 6]) {
        const bytes = Buffer.from(text);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        const verdict = await judged(pack, await exactKeysOf(bytes.toString('latin1')));
        expect(verdict.ok, `byte ${at}`).toBe(false);
      }
    }
  });
});

describe('a node that has a pack in force', () => {
  let stateDir = '';
  let node: TestNode;
  const bodies = new Map<string, unknown>();
  const before = packOf(signer, 1, { one: '/before' });
  beforeEach(async () => {
    stateDir = mkdtempSync(join(tmpdir(), 'node-packs-'));
    writeFileSync(join(stateDir, 'policy-signing.pub'), signer.pem);
    node = await startTestNode({ stateDir, files: diskFiles, bodies });
    bodies.set(assignmentOf(before).path, before);
    await node.tell({ pack_assignment: assignmentOf(before) });
    expect(node.inForce()).toEqual(['one enforce']);
  });
  afterEach(async () => {
    await node.stop();
    rmSync(stateDir, { recursive: true, force: true });
  });

  const [one, two] = pack.policies;
  if (one === undefined || two === undefined) throw new Error('the pack has two');
  const other = packOf(signer, 2, { one: '/a', two: '/other' }, { rollback_to: [1] });
  const stranger = packOf(newSigner(), 2, { one: '/a', two: '/b' }, { rollback_to: [1] });
  const foreign: Readonly<Record<string, unknown>> = {
    'a policy less': { ...pack, policies: [one] },
    'a policy more': { ...pack, policies: [one, two, { ...one, name: 'three' }] },
    'the policies in another order': { ...pack, policies: [two, one] },
    'names changed with each other': {
      ...pack,
      policies: [
        { ...one, name: 'two' },
        { ...two, name: 'one' },
      ],
    },
    'a good policy of another pack': { ...pack, policies: [one, other.policies[1]] },
    'the manifest of another': { ...pack, manifest_signature: other.manifest_signature },
    'a sidecar left out': { ...pack, policies: [one, { name: two.name, yaml: two.yaml }] },
    'a sidecar that is empty': { ...pack, policies: [one, { ...two, signature: '' }] },
    'no manifest signature': { ...pack, manifest_signature: undefined },
    'wider modes': { ...pack, modes_allowed: ['enforce'] },
    'another way back': { ...pack, rollback_to: [] },
    'everything by a stranger': stranger,
    'another pack of the same key': other,
    'no pack': 'no pack',
    nothing: null,
  };
  it.each(Object.entries(foreign))(
    'should refuse %s, say so, and keep what is in force',
    async (_, body) => {
      bodies.set(assigned.path, body);
      const standing = await node.tell({ pack_assignment: assigned });
      if (body === null) expect(standing.state).toMatch(/rejected|pending/);
      else expect(standing.state).toBe('rejected');
      expect([node.inForce(), node.report().in_force?.version]).toEqual([['one enforce'], 1]);
      await node.stop();
      node = await startTestNode({ stateDir, files: diskFiles, bodies });
      expect(node.inForce()).toEqual(['one enforce']);
    },
  );

  it('should go on with it whatever becomes of the copies, and put them back with the next start', async () => {
    const copy = join(stateDir, 'compiled-policies', `${before.pack_id}--one.yaml`);
    writeFileSync(copy, yamlOf('one', '/elsewhere'));
    writeFileSync(
      join(stateDir, 'compiled-policies', `${before.pack_id}--more.yaml`),
      yamlOf('more'),
    );
    await node.stop();
    node = await startTestNode({ stateDir, files: diskFiles, bodies });
    expect(node.inForce()).toEqual(['one enforce']);
    expect(readFileSync(copy, 'utf8')).toBe(before.policies[0]?.yaml);
  });

  it('should have nothing in force that was changed on its disk, say so, and take it anew', async () => {
    const [name = ''] = await diskFiles.list(join(stateDir, 'policy-packs'));
    const file = join(stateDir, 'policy-packs', name);
    const text = readFileSync(file);
    for (const at of [5, 100, text.length - 5]) {
      await node.stop();
      const bytes = Buffer.from(text);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(file, bytes);
      node = await startTestNode({ stateDir, files: diskFiles, bodies });
      expect([node.inForce(), node.report().pack_id]).toEqual([[], undefined]);
      // The Console sees that it is not there, and says again what is wanted.
      await node.tell({ pack_assignment: assignmentOf(before) });
      expect(node.inForce()).toEqual(['one enforce']);
    }
  });

  it('should not be brought to an older pack by a Console that forgets', async () => {
    bodies.set(assigned.path, pack);
    await node.tell({ pack_assignment: assigned });
    const { assignment_id } = assigned;
    await node.tell({ pack_assignment: { assignment_id, removed: true } });
    const last = packOf(signer, 3, { one: '/c' });
    bodies.set(assignmentOf(last).path, last);
    await node.tell({ pack_assignment: assignmentOf(last) });
    await node.tell({ pack_assignment: { assignment_id, removed: true } });
    expect(await node.tell({ pack_assignment: assigned })).toMatchObject({
      code: 'rollback_refused',
    });
    const again: SignedPack = packOf(signer, 3, { one: '/other' });
    bodies.set(assignmentOf(again).path, again);
    expect(await node.tell({ pack_assignment: assignmentOf(again) })).toMatchObject({
      code: 'version_changed',
    });
    expect(node.inForce()).toEqual([]);
  });
});
