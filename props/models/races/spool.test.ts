// The real spool on a disk in memory, its calls made at once from everywhere: each is served whole, in the order it was
// made, as if one array were behind it; and on a disk that refuses now and then nothing that was taken is lost.
// invariant: I1, I5, I6; decision: D13
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import type { WheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { CHANNELS } from '../../../machines/wire/scalars.ts';
import { openSpool } from '../../../sensor/spool/spool.ts';
import type { Spool } from '../../../sensor/spool/spool-port.ts';
import { event } from '../../contracts/samples.ts';
import { type DiskMood, memoryFiles } from './memory-files.ts';
import { begun, type Race, raced } from './scheduled-port.ts';

const CAP = 12;
const WHOLE = { maxEvents: 1_000, maxBytes: 1_000_000 };
const channel = fc.constantFrom(...CHANNELS);
const call = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('append' as const), count: fc.nat(5) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      channel,
      max: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('acknowledge' as const, 'acknowledge' as const, 'release' as const),
      channel,
    }),
  },
);
type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;
type Claim = { readonly sequence: number; readonly ids: string[] };

const idOf = (index: number) => index.toString(16).padStart(32, '0');
const eventsOf = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => event({ event_id: idOf(from + at) }));

/** One array with a cap, and a claim a channel: what each call must answer, in the order the calls are made. */
function naiveSpool() {
  let held: { id: string; by: string | null }[] = [];
  let made = 0;
  const claims = new Map<string, Claim>();
  /** Batches under way that the cap cut into: the Console may still confirm them whole. */
  const cut = new Map<string, number>();
  const next: Record<string, number> = {};
  function take(on: string): number {
    const sequence = next[on] ?? 1;
    next[on] = sequence + 1;
    return sequence;
  }
  return {
    next: () => made,
    append(count: number): number {
      for (let at = 0; at < count; at += 1) held.push({ id: idOf(made++), by: null });
      const dropped = held.splice(0, Math.max(0, held.length - CAP));
      // What is left of a batch the cap drops into gets the channel's next number: the Console may hold the whole of it.
      for (const on of new Set(dropped.map(({ by }) => by))) {
        const own = on === null ? undefined : claims.get(on);
        if (on === null || own === undefined) continue;
        cut.set(on, own.sequence);
        const ids = held.filter(({ by }) => by === on).map(({ id }) => id);
        claims.delete(on);
        if (ids.length > 0) claims.set(on, { sequence: take(on), ids });
      }
      return dropped.length;
    },
    claim(on: string, max: number): Claim | null {
      const open = claims.get(on);
      if (open !== undefined) {
        cut.delete(on);
        return { ...open };
      }
      // The oldest run that nobody claimed; a claim does not reach over another's events.
      const first = held.findIndex((one) => one.by === null);
      if (first === -1) return null;
      const run = held.slice(first);
      const end = run.findIndex((one, at) => one.by !== null || follows(run, at) === false);
      const taken = run.slice(0, Math.min(max, end === -1 ? run.length : end));
      const sequence = take(on);
      for (const one of taken) one.by = on;
      const claim = { sequence, ids: taken.map((one) => one.id) };
      claims.set(on, claim);
      cut.delete(on);
      return { ...claim };
    },
    end(on: string, kind: 'acknowledge' | 'release'): number | null {
      const open = claims.get(on);
      const old = cut.get(on);
      if (kind === 'acknowledge' && old !== undefined) cut.delete(on);
      else if (open === undefined) return null;
      claims.delete(on);
      if (kind === 'acknowledge') held = held.filter((one) => one.by !== on);
      for (const one of held) if (one.by === on) one.by = null;
      return kind === 'acknowledge' && old !== undefined ? old : (open?.sequence ?? null);
    },
    /** The number to name when nothing is open: of the batch that was cut, if there is one. */
    named: (on: string) => cut.get(on) ?? 1,
    depth: () => held.length,
  };
}
// Acknowledged events leave a hole that a run of indices does not cross.
function follows(run: readonly { readonly id: string }[], at: number): boolean {
  const [one, before] = [run[at], run[at - 1]];
  if (one === undefined || before === undefined) return true;
  return Number.parseInt(one.id, 16) === Number.parseInt(before.id, 16) + 1;
}

async function open(scheduler: Race, files: ReturnType<typeof memoryFiles>): Promise<Spool> {
  const clock: WheelClock = {
    setTimeout(run) {
      void scheduler.schedule(Promise.resolve(), 'timer').then(() => run());
      return 0;
    },
    clearTimeout: () => undefined,
    size: () => 0,
    stop: () => undefined,
  };
  const opening = openSpool({
    path: '/spool/events.jsonl',
    files,
    clock,
    now: () => 0,
    logger: silentLogger,
    random: () => new Uint8Array(16).fill(7),
    eventsMax: CAP,
    compactionMinBytes: 600,
  });
  const opened = await scheduler.waitFor(opening);
  if (!opened.ok) throw new Error(opened.detail);
  return opened.spool;
}
const idsOf = (lines: readonly string[]) =>
  lines.map((line) => (JSON.parse(line) as { readonly event_id: string }).event_id);

describe('spool', () => {
  const calls = fc.array(call, { minLength: 1, maxLength: 24 });

  it('always serves calls made at once as one array would, in their order', async () => {
    await raced(calls, async (scheduler, all) => {
      const spool = await open(
        scheduler,
        memoryFiles(scheduler, () => 'works'),
      );
      const model = naiveSpool();
      async function make(one: Call): Promise<void> {
        if (one.kind === 'append') {
          const events = eventsOf(model.next(), one.count);
          const dropped = model.append(one.count);
          expect(await spool.append(events, null)).toEqual({ ok: true, dropped });
        } else if (one.kind === 'claim') {
          const wanted = model.claim(one.channel, one.max);
          const got = await spool.claim(one.channel, { ...WHOLE, maxEvents: one.max });
          expect(got === null ? null : { sequence: got.sequence, ids: idsOf(got.lines) }).toEqual(
            wanted,
          );
        } else {
          const named = model.named(one.channel);
          const sequence = model.end(one.channel, one.kind);
          expect(await spool[one.kind](one.channel, sequence ?? named)).toBe(sequence !== null);
        }
      }
      const making = all.map((one) => begun(scheduler, one.kind, () => make(one)));
      await scheduler.waitFor(Promise.all(making));
      expect(spool.depth()).toBe(model.depth());
      await scheduler.waitFor(spool.close());
    });
  });

  it('never loses what it took, on a disk that refuses and tears', async () => {
    const moods = fc.array(
      fc.constantFrom<DiskMood>('works', 'works', 'works', 'works', 'works', 'refuses', 'tears'),
      { minLength: 60, maxLength: 60 },
    );
    await raced(fc.tuple(calls, moods), async (scheduler, [all, faults]) => {
      let moodsLeft: DiskMood[] = [];
      const files = memoryFiles(scheduler, () => moodsLeft.shift() ?? 'works');
      const spool = await open(scheduler, files);
      moodsLeft = [...faults];
      const taken: string[] = [];
      const gone = new Set<string>();
      const claimed = new Map<string, { readonly sequence: number; readonly ids: string[] }>();
      let made = 0;
      async function make(one: Call): Promise<void> {
        if (one.kind === 'append') {
          const events = eventsOf(made, one.count);
          made += one.count;
          const answer = await spool.append(events, null);
          if (answer.ok) taken.push(...events.map((own) => own.event_id));
        } else if (one.kind === 'claim') {
          const got = await spool.claim(one.channel, { ...WHOLE, maxEvents: one.max });
          if (got === null) return;
          const ids = idsOf(got.lines);
          claimed.set(one.channel, { sequence: got.sequence, ids });
        } else {
          const claim = claimed.get(one.channel);
          if (claim === undefined) return;
          // Asked for, it may have happened even when the answer is no.
          if (one.kind === 'acknowledge') for (const id of claim.ids) gone.add(id);
          await spool[one.kind](one.channel, claim.sequence);
        }
      }
      const making = all.map((one) => begun(scheduler, one.kind, () => make(one)));
      await scheduler.waitFor(Promise.all(making));
      moodsLeft = [];
      await scheduler.waitIdle();
      const dropped = spool.discarded();
      await scheduler.waitFor(spool.close());
      const again = await open(scheduler, files);
      const left: string[] = [];
      for (const on of CHANNELS) {
        for (;;) {
          const got = await scheduler.waitFor(again.claim(on, WHOLE));
          if (got === null) break;
          left.push(...idsOf(got.lines));
          await scheduler.waitFor(again.acknowledge(on, got.sequence));
        }
      }
      const missing = taken.filter((id) => !gone.has(id) && !left.includes(id));
      expect(missing.length).toBeLessThanOrEqual(dropped);
      // Only the oldest may be missing.
      const oldestLeft = taken.findIndex((id) => left.includes(id) && !gone.has(id));
      const after = taken.slice(oldestLeft === -1 ? taken.length : oldestLeft);
      expect(after.filter((id) => missing.includes(id))).toEqual([]);
      expect(left.length).toBeLessThanOrEqual(CAP);
      await scheduler.waitFor(again.close());
    });
  });
});
