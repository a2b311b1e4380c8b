// The reference store of digests. decision: D166
import { DIGESTS_MAX } from '../../../machines/limits.ts';
import {
  auditOfDigestChange,
  auditOfDigestCreate,
  auditOfDigestRemoval,
} from '../../ports/digest/digest-audit.ts';
import { begunAgain, begunFirst, lostRun, missedRun } from '../../ports/digest/digest-moves.ts';
import type {
  DigestRow,
  DigestRun,
  DigestRunKey,
  DigestStore,
} from '../../ports/digest/digest-store.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { MemoryBase } from '../plumbing/base.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';

type Base = Pick<MemoryBase, 'record' | 'fence'>;
type Lease = { readonly epoch: number; readonly untilMs: number };
type Kept = { run: DigestRun; lease: Lease | null };
type State = { readonly rows: Map<string, DigestRow>; readonly runs: Map<string, Kept> };

/** The calls on an empty store. */
export function memoryDigestCalls(base: Base): Calls<DigestStore> {
  const state: State = { rows: new Map(), runs: new Map() };
  return { ...rowCalls(state, base), ...moveCalls(state, base) };
}

const keyOf = ({ digestId, day }: DigestRunKey): string => `${digestId} ${day}`;

function rowCalls(
  { rows, runs }: State,
  { record }: Base,
): Pick<Calls<DigestStore>, 'list' | 'get' | 'create' | 'change' | 'remove' | 'reseal'> {
  const isTaken = (name: string, but: string): boolean =>
    [...rows.values()].some((row) => row.name === name && row.digestId !== but);
  return {
    list: () => [...rows.values()].sort((a, b) => (a.digestId < b.digestId ? -1 : 1)),
    get: (digestId) => rows.get(digestId) ?? null,
    create(input) {
      const { digest, nowMs } = input;
      const name = storableText(digest.name);
      const result = rows.size >= DIGESTS_MAX ? 'full' : isTaken(name, '') ? 'conflict' : 'ok';
      record(auditOfDigestCreate(input, result));
      if (result !== 'ok') return result;
      const times = { createdAtMs: nowMs, changedAtMs: nowMs };
      const row: DigestRow = { ...digest, name, ...times, revision: 1 };
      rows.set(row.digestId, row);
      return row;
    },
    change(input) {
      const before = rows.get(input.digestId);
      if (before === undefined) return 'not_found';
      const name = storableText(input.patch.name);
      if (before.revision !== input.revision || isTaken(name, input.digestId)) return 'conflict';
      const moved = { changedAtMs: input.nowMs, revision: before.revision + 1 };
      const after: DigestRow = { ...before, ...input.patch, name, ...moved };
      rows.set(after.digestId, after);
      record(auditOfDigestChange(input, before, after));
      return after;
    },
    remove(input) {
      const before = rows.get(input.digestId);
      if (before === undefined) return false;
      rows.delete(input.digestId);
      for (const [key, { run }] of runs) if (run.digestId === input.digestId) runs.delete(key);
      record(auditOfDigestRemoval(input, before));
      return true;
    },
    reseal({ digestId, was, sealed }) {
      const row = rows.get(digestId);
      if (row?.secretSealed !== was) return false;
      rows.set(digestId, { ...row, secretSealed: sealed });
      return true;
    },
  };
}

function moveCalls(
  { rows, runs }: State,
  { fence }: Base,
): Pick<Calls<DigestStore>, 'begin' | 'retry' | 'settle' | 'reclaim' | 'runs' | 'sweep'> {
  const ofDigest = (digestId: string): readonly Kept[] =>
    [...runs.values()]
      .filter(({ run }) => run.digestId === digestId)
      .sort((a, b) => (a.run.day < b.run.day ? 1 : -1));
  return {
    begin({ epoch, nowMs, leaseUntilMs, missed, ...of }) {
      fence(epoch);
      const [last] = ofDigest(of.digestId);
      if (!rows.has(of.digestId) || (last !== undefined && last.run.day >= of.day)) return null;
      for (const day of missed) {
        if (last !== undefined && last.run.day >= day) continue;
        const run = { ...missedRun(nowMs), ...of, day };
        runs.set(keyOf(run), { run, lease: null });
      }
      const run = { ...begunFirst(nowMs), ...of };
      runs.set(keyOf(run), { run, lease: { epoch, untilMs: leaseUntilMs } });
      return run;
    },
    retry({ epoch, nowMs, leaseUntilMs }) {
      fence(epoch);
      const [found] = [...runs.values()]
        .filter(({ run }) => run.state === 'waiting' && run.dueAtMs <= nowMs)
        .sort((a, b) => a.run.dueAtMs - b.run.dueAtMs || (keyOf(a.run) < keyOf(b.run) ? -1 : 1));
      if (found === undefined) return null;
      found.run = begunAgain(found.run, nowMs);
      found.lease = { epoch, untilMs: leaseUntilMs };
      return found.run;
    },
    settle({ epoch, run }) {
      fence(epoch);
      const held = runs.get(keyOf(run));
      if (held === undefined || held.lease?.epoch !== epoch) return false;
      held.run = run;
      held.lease = null;
      return true;
    },
    reclaim({ epoch, nowMs }) {
      fence(epoch);
      const lost = [...runs.values()].filter(
        ({ lease }) => lease !== null && (lease.epoch !== epoch || lease.untilMs <= nowMs),
      );
      for (const one of lost) {
        one.run = lostRun(one.run, nowMs);
        one.lease = null;
      }
      return lost.map(({ run: { digestId, day } }) => ({ digestId, day })).sort(byKey);
    },
    runs: ({ digestId, limit }) =>
      ofDigest(digestId)
        .slice(0, limit)
        .map(({ run }) => run),
    sweep({ epoch, beforeDay, limit }) {
      fence(epoch);
      const old = [...runs.values()]
        .filter(({ run }) => run.day < beforeDay && run.endedAtMs !== null)
        .sort((a, b) => (a.run.day < b.run.day ? -1 : 1))
        .slice(0, limit);
      for (const { run } of old) runs.delete(keyOf(run));
      return old.length;
    },
  };
}

function byKey(a: DigestRunKey, b: DigestRunKey): number {
  return keyOf(a) < keyOf(b) ? -1 : 1;
}
