// Habits and scores: bounded, fading, silent while learning, and the same after a restart.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BASELINE_HALF_LIFE_MS,
  BASELINE_VALUES_MAX,
  BASELINE_WARM_UP_MS,
} from '../../machines/pipeline-limits.ts';
import { Baseline } from '../../machines/wire/baseline.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import { parserOfValue } from '../../machines/wire/parse.ts';
import {
  baselineItem,
  baselinesText,
  parseBaselines,
} from '../../sensor/pipeline/baseline-file.ts';
import { type Baselines, createBaselines } from '../../sensor/pipeline/baselines.ts';
import { eventLike } from './event-like.ts';

const DAY = BASELINE_WARM_UP_MS;
const HOUR = 3_600_000;
const BEGAN = Date.UTC(2026, 4, 4);
const check = parserOfValue(Baseline);

const started = (child: string, parent = '/usr/sbin/nginx', uid = 33): RuntimeEvent =>
  eventLike(1, {
    process: { exec_id: 'c', pid: 2, binary: child, uid },
    parent: { exec_id: 'p', pid: 1, binary: parent },
  });
const connected = (ip: string, binary = '/usr/bin/browser'): RuntimeEvent =>
  eventLike(1, {
    event_kind: 'network_connect',
    process: { exec_id: 'b', pid: 3, binary },
    network: { protocol: 'tcp', direction: 'outbound', destination_ip: ip, destination_port: 443 },
  });

/** Two days of the same every ten minutes. */
function lived(baselines: Baselines, days = 2): number {
  let at = BEGAN;
  for (; at < BEGAN + days * DAY; at += HOUR / 6) baselines.judge(started('/usr/bin/php'), at);
  return at;
}

describe('baselines', () => {
  it('always find a habit usual and a deed never done before unusual', () => {
    const baselines = createBaselines();
    const at = lived(baselines);
    expect(baselines.judge(started('/usr/bin/php'), at)).toEqual({ score: 0, unusual: [] });
    const shell = baselines.judge(started('/bin/sh'), at + 1);
    expect(shell.score).toBeGreaterThan(0.9);
    expect(shell.unusual).toEqual(['children']);
    const asRoot = baselines.judge(started('/usr/bin/php', '/usr/sbin/nginx', 0), at + 2);
    expect(asRoot.unusual).toEqual(['users']);
  });

  it('never judge while a program is being learned', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('/a', '/b', '/c'), { maxLength: 80 }), (children) => {
        const baselines = createBaselines();
        for (const [at, child] of children.entries()) {
          const { score } = baselines.judge(started(child), BEGAN + at * 60_000);
          expect(score).toBe(null);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('never call one more new value a surprise where every value is new', () => {
    const baselines = createBaselines();
    for (let at = 0; at < 200; at += 1) {
      baselines.judge(connected(`10.${at % 250}.${(at * 7) % 250}.1`), BEGAN + at * HOUR);
    }
    const { score } = baselines.judge(connected('203.0.113.9'), BEGAN + 200 * HOUR);
    expect(score).toBeLessThan(0.1);
  });

  it('always give a score between 0 and 1, and never less to what was seen less', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(5), fc.nat(30 * 24)), { minLength: 30, maxLength: 150 }),
        (deeds) => {
          const baselines = createBaselines();
          const sorted = deeds
            .map(([child, hour]) => ({ child, hour }))
            .sort((a, b) => a.hour - b.hour);
          for (const { child, hour } of sorted) {
            const { score } = baselines.judge(started(`/bin/c${child}`), BEGAN + hour * HOUR);
            if (score === null) continue;
            expect(score).toBeGreaterThanOrEqual(0);
            expect(score).toBeLessThanOrEqual(1);
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  it('always forget an old habit', () => {
    const baselines = createBaselines();
    const at = lived(baselines);
    const later = at + 14 * BASELINE_HALF_LIFE_MS;
    baselines.judge(started('/usr/bin/node'), later);
    const profile = baselines.profiles().get('/usr/sbin/nginx');
    expect([...(profile?.habits.children.values.keys() ?? [])]).toEqual(['/usr/bin/node']);
    expect(profile?.habits.children.total).toBeLessThan(2);
  });

  it('never hold more programs or values than their bounds, and let the unlearned go first', () => {
    const baselines = createBaselines(new Map(), { binariesMax: 16 });
    const at = lived(baselines);
    for (let n = 0; n < 500; n += 1) {
      baselines.judge(started(`/tmp/x${n}`, `/tmp/y${n}`), at + n);
      baselines.judge(started(`/usr/bin/z${n}`), at + n);
    }
    expect(baselines.profiles().size).toBeLessThanOrEqual(16);
    expect(baselines.profiles().has('/usr/sbin/nginx')).toBe(true);
    for (const { habits } of baselines.profiles().values()) {
      for (const { values } of Object.values(habits)) {
        expect(values.size).toBeLessThanOrEqual(BASELINE_VALUES_MAX);
      }
    }
  });

  it('always go on after a restart as if there had been none', () => {
    const before = createBaselines();
    const at = lived(before);
    const saved = parseBaselines(baselinesText(before.profiles()));
    const after = createBaselines(saved ?? new Map());
    for (const child of ['/bin/sh', '/usr/bin/php', '/bin/sh', '/bin/nc']) {
      expect(after.judge(started(child), at)).toEqual(before.judge(started(child), at));
    }
    expect(baselinesText(after.profiles())).toBe(baselinesText(before.profiles()));
  });

  it('never take a torn or foreign file for habits', () => {
    const baselines = createBaselines();
    lived(baselines, 1);
    const text = baselinesText(baselines.profiles());
    fc.assert(
      fc.property(fc.nat(text.length - 1), (end) => {
        expect(parseBaselines(text.slice(0, end))).toBe(null);
      }),
      { numRuns: 50 },
    );
    expect(parseBaselines('{"version":2,"profiles":[]}')).toBe(null);
    expect(parseBaselines('{"version":1,"profiles":[{"binary":"x"}]}')).toBe(null);
  });

  it('always tell the Console what its schema takes, the same while nothing was done', () => {
    const baselines = createBaselines();
    const at = lived(baselines);
    for (const [binary, profile] of baselines.profiles()) {
      const item = baselineItem(binary, profile, at);
      expect(check(item)).toEqual({ ok: true, value: item });
      expect(baselineItem(binary, profile, at + 5)).toEqual(item);
    }
    const nginx = baselines.profiles().get('/usr/sbin/nginx');
    if (nginx === undefined) throw new Error('no profile');
    expect(baselineItem('/usr/sbin/nginx', nginx, at).is_warm).toBe(true);
    expect(baselineItem('/usr/sbin/nginx', nginx, at).children[0]?.name).toBe('/usr/bin/php');
  });
});
