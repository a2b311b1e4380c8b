// The promises of the store of policies: one revision, a commit whole or not at all, what is published never changes.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PackRow, PolicyChange } from '../../machines/console/policy/book.rules.ts';
import { NOTHING_COUNTED } from '../../machines/console/policy/rollout.rules.ts';
import type { SensorFacts } from '../../storage/ports/fleet/sensor-registry.ts';
import type { RolloutMove } from '../../storage/ports/policy/rollout-store.ts';
import { Overtaken } from '../../storage/ports/runtime/designation.ts';
import type { RelationalStores } from '../../storage/ports/stores.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { enrollment, HOSTILE, hex, NOW_MS } from './samples.ts';

type Ports = Pick<
  RelationalStores,
  'policies' | 'rollouts' | 'audit' | 'sensors' | 'facts' | 'designation'
>;

export function policyStoreContract(harness: Harness<Ports>): void {
  const store = () => harness.port().policies;
  const packOf = (packId: string, name = HOSTILE): PackRow => ({
    ...{ packId, name, flavor: 'standard', createdAtMs: NOW_MS, createdBy: 'op' },
    ...{ draftRevision: 1, latestVersion: null },
  });
  const put = (head: PackRow, body?: unknown): PolicyChange => ({
    ...{ kind: 'pack', id: head.packId, head },
    ...(body === undefined ? {} : { body }),
  });
  const entry = (target: string) => ({
    ...({ atMs: NOW_MS, actor: 'op', action: 'pack.create', target, result: 'ok' } as const),
    ...{ detail: {}, before: null, after: { manifest_sha256: 'a' } },
  });
  const commit = async (changes: readonly PolicyChange[], target = hex(8)) =>
    store().commit({
      revision: await store().revision(),
      nowMs: NOW_MS,
      changes,
      audit: [entry(target)],
    });
  async function enrolled(): Promise<string> {
    const input = enrollment();
    const { tokenHash: hash, sensor } = input;
    await harness.port().sensors.createToken({
      ...{ tokenId: randomUUID(), hash, kind: 'enroll', sensorId: null, note: '' },
      ...{ nowMs: NOW_MS, expiresAtMs: NOW_MS + 1_000, actor: 'op' },
    });
    expect(await harness.port().sensors.enroll(input)).toMatchObject({ ok: true });
    return sensor.sensorId;
  }
  const writeFacts = (sensorId: string, facts: SensorFacts) =>
    harness.port().facts.write({
      ...{ sensorId, receivedAtMs: NOW_MS, bootId: 'b', sensorVersion: '1', flavor: 'standard' },
      ...{ flavorMismatch: false, declaredRole: null, system: enrollment().sensor.system, facts },
    });
  const headOf = async (id: string) =>
    (await store().load()).documents.find((one) => one.id === id)?.head;

  describe('policy store', () => {
    it('should give every document back as it was put, and its body byte for byte', async () => {
      const row = packOf(hex(8));
      const body = { policies: [{ name: 'a', yaml: 'b: 2\r\na: 1\n\u2028é "\\' }], z: 1, a: [] };
      const before = await store().revision();
      expect(await commit([put(row, body)], row.packId)).toBe(before + 1);
      expect(await headOf(row.packId)).toEqual(row);
      const found = await store().body('pack', row.packId);
      expect(JSON.stringify(found)).toBe(JSON.stringify(body));
      expect((await harness.port().audit.recent(1))[0]).toMatchObject({
        action: 'pack.create',
        target: row.packId,
        after: { manifest_sha256: 'a' },
      });
    });

    it('should keep a body that a change does not name, and forget what is removed', async () => {
      const row = packOf(hex(8));
      await commit([put(row, { one: 1 })]);
      await commit([put({ ...row, draftRevision: 2 })]);
      expect(await headOf(row.packId)).toMatchObject({ draftRevision: 2 });
      expect(await store().body('pack', row.packId)).toEqual({ one: 1 });
      await commit([{ kind: 'pack', id: row.packId, head: null }]);
      expect(await headOf(row.packId)).toBeUndefined();
      expect(await store().body('pack', row.packId)).toBeNull();
    });

    it('should count one of two commits that were judged on the same revision', async () => {
      const revision = await store().revision();
      const ids = [hex(8), hex(8)];
      const answers = await Promise.all(
        ids.map((id) =>
          store().commit({
            ...{ revision, nowMs: NOW_MS, changes: [put(packOf(id))], audit: [entry(id)] },
          }),
        ),
      );
      expect(answers.filter((one) => one !== null)).toEqual([revision + 1]);
      const heads = await Promise.all(ids.map(headOf));
      expect(heads.filter((one) => one !== undefined)).toHaveLength(1);
      const told = (await harness.port().audit.recent(100)).map(({ target }) => target);
      expect(ids.filter((id) => told.includes(id))).toHaveLength(1);
    });

    it('should never change what is published, and nothing else of such a commit', async () => {
      const id = `${hex(8)}/1`;
      const head = { manifestSha256: 'a' } as never;
      await commit([{ kind: 'version', id, head, body: { yaml: 'first' } }]);
      const revision = await store().revision();
      const other = packOf(hex(8));
      const again: PolicyChange = { kind: 'version', id, head, body: { yaml: 'second' } };
      await expect(commit([put(other), again])).rejects.toThrow();
      await expect(commit([{ kind: 'version', id, head: null }])).rejects.toThrow();
      expect(await store().body('version', id)).toEqual({ yaml: 'first' });
      expect(await headOf(other.packId)).toBeUndefined();
      expect(await store().revision()).toBe(revision);
    });

    it('should write the transitions of rollouts with their commit, once', async () => {
      const rolloutId = hex(8);
      const move = (sequence: number, to: RolloutMove['to'] = 'paused'): RolloutMove => ({
        ...{ rolloutId, sequence, atMs: NOW_MS, event: 'pause', from: 'running.reaching', to },
        ...{ actor: HOSTILE, tally: { ...NOTHING_COUNTED, rejected: 2 } },
        context: { stage: 1, failed: null } as never,
      });
      const write = async (moves: readonly RolloutMove[], changes: readonly PolicyChange[] = []) =>
        store().commit({
          revision: await store().revision(),
          ...{ nowMs: NOW_MS, changes, moves, audit: [] },
        });
      await write([{ ...move(1), from: null, tally: null }, move(2)]);
      await write([move(3, 'halted')]);
      const read = (limit: number, before: number | null = null) =>
        harness.port().rollouts.moves({ rolloutId, limit, before });
      const stored = { ...move(3, 'halted'), actor: HOSTILE.replaceAll('\0', '\uFFFD') };
      const [newest, ...others] = await read(10);
      expect({ ...newest, actor: stored.actor }).toEqual(stored);
      expect(others.map(({ sequence }) => sequence)).toEqual([2, 1]);
      expect(others[1]).toMatchObject({ from: null, tally: null });
      expect((await read(1, 3)).map(({ sequence }) => sequence)).toEqual([2]);
      const other = packOf(hex(8));
      await expect(write([move(3)], [put(other)])).rejects.toThrow();
      expect(await headOf(other.packId)).toBeUndefined();
      expect((await read(10))[0]).toMatchObject({ sequence: 3, to: 'halted' });
    });

    it('should write nothing under an epoch that is over', async () => {
      const other = packOf(hex(8));
      const { epoch } = await harness.port().designation.last();
      const revision = await store().revision();
      const late = store().commit({
        ...{ revision, nowMs: NOW_MS, changes: [put(other)], audit: [], epoch: epoch + 1_000 },
      });
      await expect(late).rejects.toBeInstanceOf(Overtaken);
      expect(await headOf(other.packId)).toBeUndefined();
      expect(await store().revision()).toBe(revision);
    });

    it('should see sensors by what they reported last, and no revoked one', async () => {
      const sensorId = await enrolled();
      const look = async () => (await harness.port().rollouts.look([sensorId, hex(8)]))[0];
      const nothing = { restarts: 0, lost: 0, read: 0, report: null, lastHeartbeatAtMs: null };
      expect(await look()).toEqual({ sensorId, ...nothing });
      const policy = { assignment_id: 'a', state: 'rejected', code: 'no', reason: HOSTILE };
      const loss = { seen: 9, kernel_lost: 2, spool_discarded: 3 };
      await writeFacts(sensorId, {
        ...{ engine: { restarts: 4 }, trust: null, resources: null, capabilities: [] },
        ...{ pipeline: { read: 100 }, loss, policy },
      });
      expect(await look()).toMatchObject({
        ...{ restarts: 4, lost: 5, read: 100, lastHeartbeatAtMs: NOW_MS },
        report: { assignmentId: 'a', state: 'rejected', reason: expect.stringMatching(/^no: /) },
      });
      await harness.port().sensors.revoke({ sensorId, nowMs: NOW_MS, reason: '', actor: 'op' });
      expect(await harness.port().rollouts.look([sensorId])).toEqual([]);
      expect(await harness.port().rollouts.look([])).toEqual([]);
    });

    it('should say when the database is away, and answer again by itself', async () => {
      await expectAwayAndBack(harness, [
        () => store().load(),
        () => store().revision(),
        () => store().body('pack', 'none'),
        () => store().commit({ revision: -1, nowMs: NOW_MS, changes: [], audit: [] }),
        () => harness.port().rollouts.look([hex(8)]),
        () => harness.port().rollouts.moves({ rolloutId: hex(8), limit: 1, before: null }),
      ]);
    });
  });
}
