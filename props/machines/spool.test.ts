// The spool: arithmetic against a list, the machine's laws, and the real journal on a real disk, cut at every byte of its
// tail. invariant: I5, I6; decision: D6, D13
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createWheelClock, type WheelClock } from '../../actors/runtime/wheel-clock.ts';
import { SPOOL_EVENTS_MAX } from '../../machines/limits.ts';
import { spoolMachine } from '../../machines/sensor/spool.machine.ts';
import {
  applyChange,
  applyChanges,
  depth,
  EMPTY_SPOOL,
  openClaim,
  overflow,
  planClaim,
  type SpoolState,
} from '../../machines/sensor/spool.rules.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import { CHANNELS } from '../../machines/wire/scalars.ts';
import { openSpool, type SpoolOptions } from '../../sensor/spool/spool.ts';
import type { Spool } from '../../sensor/spool/spool-port.ts';
import { diskFiles } from '../../sensor/state-directory/file-port.ts';
import { runs } from '../runs.ts';
import { describeMachineLaws } from './laws.ts';

const CAP = 12;
// Every append waits for a real sync, hundreds of them a test, on a disk that others use too.
const DISK_TIMEOUT_MS = 90_000;
const WHOLE = { maxEvents: 1_000, maxBytes: 1_000_000 };
const channel = fc.constantFrom(...CHANNELS);
const change = fc.oneof(
  fc.record({ kind: fc.constant('append' as const), count: fc.nat(9) }),
  fc.record({ kind: fc.constant('drop' as const), count: fc.nat(9), hour: fc.nat(99) }),
  fc.nat(9).map((engine_lost) => ({ kind: 'lose' as const, lost: { engine_lost }, hour: 3 })),
  fc.record({
    kind: fc.constant('claim' as const),
    channel,
    sequence: fc.nat(9),
    from: fc.nat(30),
    to: fc.nat(30),
  }),
  fc.record({
    kind: fc.constantFrom('ack' as const, 'release' as const),
    channel,
    sequence: fc.nat(9),
  }),
  fc.record({
    kind: fc.constant('renumber' as const),
    channel,
    sequence: fc.nat(9),
    to: fc.nat(9),
  }),
  fc.record({ kind: fc.constant('forget' as const), from: fc.nat(30), to: fc.nat(30) }),
);

describeMachineLaws({
  name: 'spool',
  machine: spoolMachine,
  input: fc.constant({ eventsMax: CAP, retryMinMs: 1_000, retryMaxMs: 30_000 }),
  events: fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        type: fc.constant('journal.changed' as const),
        changes: fc.array(change, { maxLength: 4 }),
      }),
    },
    { weight: 2, arbitrary: fc.constant({ type: 'disk.refused' as const }) },
    { weight: 1, arbitrary: fc.constant({ type: 'spool.close' as const }) },
  ),
  outputs: {
    recoverJournal: fc
      .array(change, { maxLength: 8 })
      .map((changes) => ({ spool: applyChanges(EMPTY_SPOOL, changes) })),
  },
});

// The model: a list of indices, each free, or claimed under a name.
type Model = { held: { index: number; by: string | null }[]; tail: number; dropped: number };
type Real = { state: SpoolState; given: Set<string> };

function check(model: Model, real: Real): void {
  expect(depth(real.state)).toBe(model.held.length);
  expect(real.state.discarded).toBe(model.dropped);
  expect(real.state.done.length).toBeLessThanOrEqual(16);
  for (const claim of real.state.claims) {
    const mine = model.held.filter((event) => event.by === `${claim.channel}/${claim.sequence}`);
    expect(mine.map((event) => event.index)).toEqual(
      Array.from({ length: claim.to - claim.from }, (_, step) => claim.from + step),
    );
  }
  expect(model.held.filter((event) => event.by !== null).length).toBe(
    real.state.claims.reduce((sum, claim) => sum + claim.to - claim.from, 0),
  );
}

// A batch that damage hit is no batch any more: what is left of it belongs to nobody.
function free(model: Model, gone: Model['held']): void {
  const hit = new Set(gone.map((event) => event.by));
  for (const event of model.held) if (hit.has(event.by)) event.by = null;
}

// What is left of a batch the cap cut into goes on in its channel under the next number.
function renumberCut(model: Model, given: Set<string>, gone: Model['held']): void {
  for (const name of new Set(gone.map((event) => event.by))) {
    const left = model.held.filter((event) => name !== null && event.by === name);
    const [on = ''] = (name ?? '').split('/');
    const used = [...given].filter((one) => one.startsWith(`${on}/`));
    const next = `${on}/${1 + Math.max(0, ...used.map((one) => Number(one.split('/')[1])))}`;
    if (left.length > 0) given.add(next);
    for (const event of left) event.by = next;
  }
}

const append = fc.nat(6).map(
  (count): fc.Command<Model, Real> => ({
    check: () => true,
    run(model, real) {
      for (let step = 0; step < count; step += 1)
        model.held.push({ index: model.tail++, by: null });
      const gone = model.held.splice(0, Math.max(0, model.held.length - CAP));
      model.dropped += gone.length;
      renumberCut(model, real.given, gone);
      real.state = applyChange(real.state, { kind: 'append', count });
      real.state = applyChange(real.state, { kind: 'drop', count: overflow(real.state, CAP) });
      check(model, real);
    },
    toString: () => `append(${count})`,
  }),
);
const claim = fc.tuple(channel, fc.integer({ min: 1, max: 5 })).map(
  ([on, max]): fc.Command<Model, Real> => ({
    check: () => true,
    run(model, real) {
      const had = openClaim(real.state, on);
      const planned = planClaim(real.state, on, max);
      if (planned === null) expect(model.held.some((event) => event.by === null)).toBe(false);
      else if (had !== null) expect(planned).toBe(had);
      else {
        const name = `${on}/${planned.sequence}`;
        expect(real.given.has(name)).toBe(false);
        real.given.add(name);
        expect(planned.from).toBe(model.held.find((event) => event.by === null)?.index);
        expect(planned.to - planned.from).toBeLessThanOrEqual(max);
        for (const event of model.held) {
          if (event.index < planned.from || event.index >= planned.to) continue;
          expect(event.by).toBeNull();
          event.by = name;
        }
        real.state = applyChange(real.state, { kind: 'claim', ...planned });
      }
      check(model, real);
    },
    toString: () => `claim(${on}, ${max})`,
  }),
);
const end = fc
  .tuple(channel, fc.constantFrom('ack' as const, 'release' as const, 'renumber' as const))
  .map(
    ([on, kind]): fc.Command<Model, Real> => ({
      check: (_) => true,
      run(model, real) {
        const open = openClaim(real.state, on);
        if (open === null) return;
        const { sequence } = open;
        const name = `${on}/${sequence}`;
        const to = real.state.next[on];
        if (kind === 'ack') model.held = model.held.filter((event) => event.by !== name);
        for (const event of model.held) {
          if (event.by === name) event.by = kind === 'release' ? null : `${on}/${to}`;
        }
        if (kind === 'renumber') real.given.add(`${on}/${to}`);
        real.state = applyChange(real.state, { kind, channel: on, sequence, to });
        check(model, real);
      },
      toString: () => `${kind}(${on})`,
    }),
  );

const forget = fc.tuple(fc.nat(CAP), fc.nat(3)).map(
  ([skip, count]): fc.Command<Model, Real> => ({
    check: () => true,
    run(model, real) {
      const from = real.state.head + skip;
      const to = from + count;
      const isGone = ({ index }: { index: number }) => from <= index && index < to;
      const gone = model.held.filter(isGone);
      model.held = model.held.filter((event) => !isGone(event));
      free(model, gone);
      real.state = applyChange(real.state, { kind: 'forget', from, to });
      check(model, real);
    },
    toString: () => `forget(${skip}, ${count})`,
  }),
);

describe('spool rules', () => {
  it('always agree with a list of indices', () => {
    fc.assert(
      fc.property(fc.commands([append, claim, end, forget], { maxCommands: 60 }), (commands) => {
        fc.modelRun(
          () => ({
            model: { held: [], tail: 0, dropped: 0 },
            real: { state: EMPTY_SPOOL, given: new Set<string>() },
          }),
          commands,
        );
      }),
      { numRuns: runs(400) },
    );
  });

  it('never leave a state that is not sorted, disjoint and inside [head, tail)', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        let state = EMPTY_SPOOL;
        for (const next of changes) {
          state = applyChange(state, next);
          let last = state.head;
          for (const range of state.done) {
            expect(range.from).toBeGreaterThan(last);
            expect(range.to).toBeGreaterThan(range.from);
            last = range.to;
          }
          expect(last).toBeLessThanOrEqual(state.tail);
          expect(depth(state)).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });
});

describe('spool on the disk', { timeout: DISK_TIMEOUT_MS }, () => {
  let root: string;
  let clock: WheelClock;
  let made = 0;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'spool-'));
    clock = createWheelClock();
  });
  afterAll(async () => {
    clock.stop();
    await rm(root, { recursive: true, force: true });
  });

  async function open(path: string, more: Partial<SpoolOptions> = {}): Promise<Spool> {
    const result = await openSpool({
      path,
      files: diskFiles,
      clock,
      now: Date.now,
      logger: silentLogger,
      random: () => new Uint8Array(16).fill(7),
      ...more,
    });
    if (!result.ok) throw new Error(result.detail);
    return result.spool;
  }
  const newPath = () => join(root, `${made++}.jsonl`);
  const names = (spool: Spool) => drain(spool).then((batches) => batches.flat());

  async function drain(spool: Spool, maxEvents = 1_000): Promise<string[][]> {
    const batches: string[][] = [];
    for (const one of CHANNELS) {
      for (let batch = await spool.claim(one, { ...WHOLE, maxEvents }); batch !== null; ) {
        batches.push(batch.events.map((event) => event.event_id));
        expect(await spool.acknowledge(one, batch.sequence)).toBe(true);
        batch = await spool.claim(one, { ...WHOLE, maxEvents });
      }
    }
    return batches;
  }

  it('never loses a sealed event, never invents one, keeps order, wherever the tail is cut', async () => {
    const path = newPath();
    const spool = await open(path);
    const sealedAt: { bytes: number; events: string[]; cursor: unknown }[] = [
      { bytes: spool.status().journalBytes, events: [], cursor: null },
    ];
    const all: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const events = Array.from({ length: round + 1 }, (_, step) => event(`${round}-${step}`));
      await spool.append(events, { offset: round });
      all.push(...events.map((one) => one.event_id));
      const bytes = spool.status().journalBytes;
      sealedAt.push({ bytes, events: [...all], cursor: { offset: round } });
    }
    await spool.close();
    const whole = await readFile(path);
    const first = sealedAt[0]?.bytes ?? 0;
    const copy = newPath();
    for (let length = first; length <= whole.length; length += 1) {
      const around = whole.subarray(length - 3, length + 3);
      // Else every third length, and all around the ends of lines, where seals begin and end.
      if (runs(2) < 2 && length % 3 > 0 && !around.includes('\n')) continue;
      await writeFile(copy, whole.subarray(0, length));
      const cut = await open(copy);
      const last = sealedAt.findLast((seal) => seal.bytes <= length);
      expect(cut.cursor()).toEqual(last?.cursor);
      expect(cut.depth()).toBe(last?.events.length);
      if (length % 16 === 0) expect(await names(cut)).toEqual(last?.events);
      await cut.close();
    }
  });

  it('never lets a damaged line take its neighbours', async () => {
    const path = newPath();
    const spool = await open(path);
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const id of ids) await spool.append([event(id)], id);
    const batch = await spool.claim('stream', { ...WHOLE, maxEvents: 2 });
    expect(batch?.events.map((one) => one.event_id)).toEqual(['a', 'b']);
    await spool.close();
    const text = (await readFile(path, 'utf8')).split('\n');
    for (let line = 0; line < text.length - 2; line += 1) {
      const damaged = [...text];
      damaged[line] = `${damaged[line]?.slice(0, 20)}X${damaged[line]?.slice(21)}`;
      const copy = newPath();
      await writeFile(copy, damaged.join('\n'));
      const reopened = await open(copy);
      const lost = /"event_id":"(.)"/.exec(text[line] ?? '')?.[1];
      expect(reopened.status().damaged).toBe(1);
      expect((await names(reopened)).sort()).toEqual(ids.filter((id) => id !== lost));
      await reopened.close();
    }
  });

  it('gives a batch the same number and content until it is acknowledged, also after a restart', async () => {
    const path = newPath();
    let spool = await open(path);
    await spool.append(['a', 'b', 'c'].map(event), 1);
    const batch = await spool.claim('stream', { ...WHOLE, maxEvents: 2 });
    const other = await spool.claim('heartbeat', WHOLE);
    const { streamId } = spool;
    await spool.close();
    spool = await open(path);
    await spool.append([event('d')], 2);
    expect((await spool.claim('stream', WHOLE))?.lines).toEqual(batch?.lines);
    expect((await spool.claim('heartbeat', WHOLE))?.lines).toEqual(other?.lines);
    expect(await spool.renumber('stream', 1)).toBe(2);
    expect(await spool.acknowledge('stream', 1)).toBe(false);
    expect((await spool.claim('stream', WHOLE))?.sequence).toBe(2);
    expect(await spool.release('stream', 2)).toBe(true);
    expect((await spool.claim('batch', WHOLE))?.lines).toEqual(batch?.lines);
    expect((await spool.claim('stream', WHOLE))?.sequence).toBe(3);
    expect(spool.streamId).toBe(streamId);
    await spool.close();
  });

  it('keeps everything across compactions and stays small', async () => {
    const path = newPath();
    let spool = await open(path, { compactionMinBytes: 2_000 });
    let oldest = 0;
    for (let round = 0; round < 200; round += 1) {
      await spool.append([event(`${2 * round}`), event(`${2 * round + 1}`)], round);
      if (round % 50 === 49) {
        await spool.close();
        spool = await open(path, { compactionMinBytes: 2_000 });
      }
      if (round < 10) continue;
      const batch = await spool.claim('stream', { ...WHOLE, maxEvents: 2 });
      expect(batch?.events.map((one) => one.event_id)).toEqual([`${oldest}`, `${oldest + 1}`]);
      oldest += 2;
      await spool.acknowledge('stream', batch?.sequence ?? 0);
      expect(spool.status().journalBytes).toBeLessThan(12_000);
    }
    expect(spool.cursor()).toBe(199);
    expect(await names(spool)).toEqual(Array.from({ length: 20 }, (_, step) => `${380 + step}`));
    await spool.close();
  });

  it('drops exactly the oldest one of 100,001 events and counts it', async () => {
    const spool = await open(newPath());
    for (let from = 0; from <= SPOOL_EVENTS_MAX; from += 5_000) {
      const count = Math.min(5_000, SPOOL_EVENTS_MAX + 1 - from);
      const events = Array.from({ length: count }, (_, step) => event(`${from + step}`));
      await spool.append(events, from);
    }
    expect(spool.status()).toMatchObject({ state: 'full', depth: SPOOL_EVENTS_MAX, discarded: 1 });
    const batch = await spool.claim('batch', { maxEvents: 3, maxBytes: 1 });
    expect(batch?.events.map((one) => one.event_id)).toEqual(['1']);
    await spool.close();
  });
});

function event(id: string): RuntimeEvent {
  return {
    event_id: id,
    schema_version: 1,
    observed_at: '2026-01-01T00:00:00Z',
    event_kind: 'process_exec',
    severity: 'info',
    message: 'ü "quoted"\n',
  };
}
