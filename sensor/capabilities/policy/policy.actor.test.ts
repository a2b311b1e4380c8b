// The policies that the Console wants on a node, over a real disk: downloaded, verified, in force, kept, told.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  assignmentOf,
  customOf,
  newSigner,
  PACK_ID,
  packOf,
  rotationOf,
  startTestNode,
  type TestNode,
} from '../../../props/crash/node-policies.fixture.ts';
import type { EngineRun } from '../../engine/engine-launcher.ts';
import { compiledRevision } from '../../engine/policy/compile-policy.ts';
import { diskFiles } from '../../state-directory/file-port.ts';
import { readPoliciesOf } from './read-policies.ts';

const first = newSigner();
const second = newSigner();
let stateDir = '';
let bodies = new Map<string, unknown>();
let node: TestNode;
const start = async (more: Partial<Parameters<typeof startTestNode>[0]> = {}) => {
  node = await startTestNode({ stateDir, files: diskFiles, bodies, ...more });
};
/** Publishes and assigns; answers how the pack stands then. */
const assign = (pack: ReturnType<typeof packOf>, more = {}) => {
  const assigned = assignmentOf(pack, more);
  bodies.set(assigned.path, pack);
  return node.tell({ pack_assignment: assigned });
};
const filesOf = (folder: string) => readdirSync(join(stateDir, folder)).sort();

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'node-policies-'));
  bodies = new Map();
  writeFileSync(join(stateDir, 'policy-signing.pub'), first.pem, { mode: 0o644 });
});
afterEach(async () => {
  await node.stop();
  rmSync(stateDir, { recursive: true, force: true });
});

describe('a pack on its node', () => {
  it('should be in force whole, kept, copied for people, and in force again after a restart', async () => {
    await start();
    const pack = packOf(first, 1, { one: '/a', two: '/b' });
    expect(await assign(pack)).toEqual({ job: null, state: null });
    expect(node.inForce()).toEqual(['one enforce', 'two enforce']);
    const report = node.report();
    expect(report).toMatchObject({
      ...{ pack_id: PACK_ID, version: 1, highest_version: 1, state: 'enforcing', mode: 'enforce' },
      policies: [
        { name: 'one', state: 'enforcing' },
        { name: 'two', state: 'enforcing' },
      ],
    });
    expect(filesOf('compiled-policies')).toEqual(
      ['one', 'two'].flatMap((name) => [
        `${PACK_ID}--${name}.yaml`,
        `${PACK_ID}--${name}.yaml.sig`,
      ]),
    );
    const kept: unknown = JSON.parse(readFileSync(join(stateDir, 'assigned-pack.json'), 'utf8'));
    expect(kept).toMatchObject({ pack_id: PACK_ID, version: 1, enforcement_state: 'enforcing' });
    await node.stop();
    await start();
    expect(node.inForce()).toEqual(['one enforce', 'two enforce']);
    expect(node.report()).toEqual(report);
    expect(await readPoliciesOf({ stateDir, strictPolicies: true })).toMatchObject({
      ...{ is_good: true, problem: null },
      policies: [{ name: 'one', from: 'pack', is_taken: true }, { name: 'two' }],
    });
  });

  it('should change as one set: never a policy of one version beside one of another', async () => {
    await start();
    await assign(packOf(first, 1, { one: '/a', two: '/b', gone: '/g' }));
    await assign(packOf(first, 2, { one: '/c', two: '/d', new: '/n' }));
    expect(node.history.map((set) => set.map((one) => one.split(' ')[0]))).toEqual([
      ['one', 'two', 'gone'],
      ['one', 'two', 'new'],
    ]);
    expect(filesOf('policy-packs')).toHaveLength(1);
  });

  it('should be refused below the highest version unless that one names it, also over another pack', async () => {
    await start();
    await assign(packOf(first, 2, { one: '/a' }));
    expect(await assign(packOf(first, 1, { one: '/b' }))).toMatchObject({
      state: 'rejected',
      code: 'rollback_refused',
    });
    const other = packOf(first, 1, { other: '/o' }, { pack_id: PACK_ID.replaceAll('1', '2') });
    expect(await assign(other)).toMatchObject({ state: null });
    await node.stop();
    await start();
    expect(await assign(packOf(first, 1, { one: '/b' }))).toMatchObject({
      code: 'rollback_refused',
    });
    expect(node.inForce()).toEqual(['other enforce']);
    expect(node.report()).toMatchObject({
      ...{ version: 1, highest_version: 2, state: 'rejected', code: 'rollback_refused' },
      in_force: { pack_id: other.pack_id },
    });
    await assign(packOf(first, 3, { one: '/c' }, { rollback_to: [1] }));
    expect(await assign(packOf(first, 1, { one: '/b' }))).toMatchObject({ state: null });
    expect(await assign(packOf(first, 2, { one: '/a' }))).toMatchObject({
      code: 'rollback_refused',
    });
  });

  it('should wait for what an engine says of it, where that one read the file of a life before', async () => {
    await start();
    for (const [at, path] of ['/a', '/b', '/c'].entries()) {
      await assign(packOf(first, at + 1, { one: path }));
    }
    await node.stop();
    // The disk is full while this life begins: the engine finds the file of the one before.
    let isFull = true;
    const open: typeof diskFiles.open = async (path, how, mode) => {
      if (!isFull || !path.endsWith('policies.tmp')) return await diskFiles.open(path, how, mode);
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    };
    const { promise: gone } = Promise.withResolvers<string>();
    const launch = async (keeper: TestNode['keeper']): Promise<EngineRun> => {
      const say = (): void => {
        const text = readFileSync(join(stateDir, 'run', 'policies'), 'utf8');
        for (const [, policy = '', mode, digest] of text.matchAll(/^policy (\S+) (\S+) (\S+)$/gm)) {
          const state = mode === 'enforce' ? 'enforcing' : 'monitoring';
          keeper.hear({ policy, state, digest, reason: '' });
        }
        keeper.hear({ policies: 1, revision: compiledRevision(text), reason: '' });
      };
      setImmediate(say);
      return {
        gone,
        readPolicies: () => void setImmediate(say),
      } as Partial<EngineRun> as EngineRun;
    };
    await start({ files: { ...diskFiles, open }, launch });
    await vi.waitFor(() => expect(node.keeper.loaded()).toMatchObject([{ state: 'enforcing' }]));
    isFull = false;
    expect(await assign(packOf(first, 4, { one: '/d' }))).toMatchObject({ state: null });
    expect(node.report()).toMatchObject({ version: 4, state: 'enforcing' });
  });

  it('should be refused in a mode, scope or content that nobody signed', async () => {
    await start();
    const monitorOnly = packOf(
      first,
      1,
      { one: '/a' },
      { mode: 'monitor', modes_allowed: ['monitor'] },
    );
    expect(await assign(monitorOnly, { mode: 'enforce' })).toMatchObject({
      code: 'mode_not_signed',
    });
    const scoped = packOf(first, 2, { one: '/a' }, { namespace_scope: ['shop'] });
    expect(await assign(scoped)).toMatchObject({ state: 'rejected', code: 'scope_not_signed' });
    expect(await assign(scoped, { namespace_scope: ['shop'] })).toMatchObject({
      ...{ state: 'failed', code: 'engine_cannot' },
    });
    const wrong = packOf(first, 3, { one: '/a' });
    expect(await assign(wrong, { manifest_sha256: '0'.repeat(64) })).toMatchObject({
      code: 'manifest_mismatch',
    });
    expect(await assign(packOf(second, 4, { one: '/a' }))).toMatchObject({
      code: 'signature_invalid',
    });
    expect(node.history.flat()).toEqual([]);
    expect(existsSync(join(stateDir, 'assigned-pack.json'))).toBe(false);
  });

  it('should only tell where it is assigned so, or the switch above it says so, and leave with it', async () => {
    await start();
    const pack = packOf(first, 1, { one: '/a' });
    await assign(pack, { mode: 'monitor' });
    expect([node.inForce(), node.report().state]).toEqual([['one monitor'], 'monitoring']);
    await assign(pack);
    expect(node.inForce()).toEqual(['one enforce']);
    await node.tell({ enforcement_policy: { revision: 1, mode: 'monitor' } });
    expect(node.inForce()).toEqual(['one monitor']);
    await node.tell({ enforcement_policy: { revision: 2, mode: 'off' } });
    expect([node.inForce(), node.report()]).toMatchObject([
      [],
      { state: 'pending', code: 'switched_off', enforcement_revision: 2 },
    ]);
    await node.tell({ enforcement_policy: { revision: 3, mode: 'enforce' } });
    const { assignment_id } = assignmentOf(pack);
    await node.tell({ pack_assignment: { assignment_id, removed: true } });
    expect([node.inForce(), node.report().state]).toEqual([[], 'removed']);
    expect([filesOf('compiled-policies'), filesOf('policy-packs')]).toEqual([[], []]);
  });

  it('should stand below the policies of the sensor itself, and above what was laid by hand', async () => {
    const folder = join(stateDir, 'compiled-policies');
    await diskFiles.makeDirectory(folder, 0o700);
    for (const name of ['one', 'mine']) {
      writeFileSync(
        join(folder, `${name}.yaml`),
        packOf(first, 1, { [name]: '/h' }).policies[0]?.yaml ?? '',
        {
          mode: 0o600,
        },
      );
    }
    await start();
    await assign(packOf(first, 1, { one: '/a', two: '/b' }));
    const custom = customOf(first, 4, { two: '/c' });
    bodies.set(custom.told.path, custom.body);
    await node.tell({ custom_policies: custom.told });
    expect(node.inForce()).toEqual(['mine enforce', 'two enforce', 'one enforce']);
    expect(node.facts.policies).toContainEqual(
      expect.objectContaining({ name: 'one.yaml', state: 'rejected' }),
    );
    expect(node.report()).toMatchObject({ custom_revision: 4, state: 'enforcing' });
    await node.tell({ custom_policies: { revision: 5, path: '/', policies: [] } });
    expect(node.inForce()).toEqual(['mine enforce', 'one enforce', 'two enforce']);
    expect(readdirSync(folder).filter((one) => one.startsWith('custom--'))).toEqual([]);
  });

  it('should wait for a Console that does not have it now, and say so', async () => {
    await start();
    const assigned = assignmentOf(packOf(first, 1, { one: '/a' }));
    const standing = await node.tell({ pack_assignment: assigned });
    expect(standing).toMatchObject({
      state: 'pending',
      reason: expect.stringContaining('not_found'),
    });
    expect(node.report()).toMatchObject({
      state: 'pending',
      assignment_id: assigned.assignment_id,
    });
  });
});

describe('what an engine cannot do', () => {
  const refuses = (name: string) => (name === 'bad' ? 'this kernel has no such hook' : '');

  it('should leave the whole set before in force, and be told with its reason', async () => {
    await start({ refuses });
    await assign(packOf(first, 1, { one: '/a' }));
    expect(await assign(packOf(first, 2, { one: '/b', bad: '/c' }))).toMatchObject({
      ...{ state: 'failed', code: 'engine_cannot' },
      reason: expect.stringContaining('no such hook'),
    });
    expect(node.inForce()).toEqual(['one enforce']);
    expect(node.report()).toMatchObject({ version: 2, state: 'failed', in_force: { version: 1 } });
    await node.stop();
    await start({ refuses });
    expect([node.inForce(), node.report().version]).toEqual([['one enforce'], 1]);
  });

  it('should be found by trying, before anything that is in force changes', async () => {
    await start({ refuses, tries: true });
    await assign(packOf(first, 1, { one: '/a' }));
    const reads = node.reads();
    await assign(packOf(first, 2, { one: '/b', bad: '/c' }));
    expect([node.reads(), node.report().state]).toEqual([reads, 'failed']);
  });

  it('should be left out where the assignment says so', async () => {
    await start({ refuses, tries: true });
    await assign(packOf(first, 1, { one: '/a', bad: '/c' }), { when_unsupported: 'skip' });
    expect(node.report()).toMatchObject({
      policies: [
        { name: 'one', state: 'enforcing' },
        { name: 'bad', state: 'failed' },
      ],
    });
  });

  it('should be everything for procfs, until another engine runs', async () => {
    await start({ kind: 'procfs' });
    expect(await assign(packOf(first, 1, { one: '/a' }))).toMatchObject({
      ...{ state: 'failed', code: 'engine_cannot' },
      reason: expect.stringContaining('carries out no policies'),
    });
    expect(existsSync(join(stateDir, 'assigned-pack.json'))).toBe(false);
  });
});

describe('the keys a node trusts', () => {
  it('should follow statements of a trusted key, keep them over a restart, and take no older one', async () => {
    await start();
    const pack = packOf(second, 1, { one: '/a' });
    expect(await assign(pack)).toMatchObject({ code: 'signature_invalid' });
    const before = node.keys.sha256();
    // With the key came what it signs: it is tried again by itself.
    await node.tell({ signing_key_rotations: [rotationOf(first, second, 1)] });
    expect([node.inForce(), node.report().state]).toEqual([['one enforce'], 'enforcing']);
    expect(node.keys.sha256()).not.toBe(before);
    await node.tell({ signing_key_rotations: [rotationOf(second, second, 2, [first.id])] });
    await node.stop();
    await start();
    expect(node.inForce()).toEqual(['one enforce']);
    expect(node.keys.keys().map(({ id }) => id)).toEqual([second.id]);
    const stranger = newSigner();
    for (const forged of [
      rotationOf(first, stranger, 3),
      rotationOf(stranger, stranger, 3),
      rotationOf(second, stranger, 2),
      rotationOf(second, first, 3),
      { ...rotationOf(second, stranger, 3), sequence: 4 },
    ]) {
      await node.tell({ signing_key_rotations: [forged] });
      expect(node.keys.keys().map(({ id }) => id)).toEqual([second.id]);
    }
  });

  it('should keep what is in force when the key that signed it is retired, and take no more of it', async () => {
    await start();
    await assign(packOf(first, 1, { one: '/a' }));
    await node.tell({ signing_key_rotations: [rotationOf(first, second, 1, [first.id])] });
    expect(node.inForce()).toEqual(['one enforce']);
    expect(await assign(packOf(first, 2, { one: '/b' }))).toMatchObject({
      code: 'signature_invalid',
    });
    expect(node.inForce()).toEqual(['one enforce']);
  });
});
