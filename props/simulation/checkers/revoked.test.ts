// Streams of a revoked sensor on a Console that is paused: told by hand.
import { expect, it } from 'vitest';
import { DEFAULT_INTERVALS } from '../../../machines/intervals.ts';
import { REVOCATION_VIEW_MAX_AGE_MS } from '../../../machines/limits.ts';
import type { Observation } from '../world/observation.ts';
import type { FleetView } from './checker.ts';
import { revoked } from './revoked.ts';

const CONSOLE = 'console-1';
const LONG_MS = REVOCATION_VIEW_MAX_AGE_MS + DEFAULT_INTERVALS.STREAM_PING_INTERVAL_MS + 1_000;
const opened: Observation = {
  ...{ kind: 'stream.opened', console: CONSOLE, fingerprint: 'f', askedAtMs: 0 },
};
const revocation: Observation = { kind: 'sensor.revoked', sensor: 's', nowMs: 1_000 };
const resumed: Observation = { kind: 'process.resumed', host: CONSOLE, incarnation: 1 };

/** Looks after so long, with a stream that nobody closes. */
function lookAfter(revokedForMs: number, pause: 'none' | 'lasts' | { readonly overForMs: number }) {
  const found: string[] = [];
  const fleet = {
    intervals: DEFAULT_INTERVALS,
    world: { scheduler: { sleptMs: () => 0 } },
    consoles: [{ name: CONSOLE, isPaused: () => pause === 'lasts' }],
    nodes: [],
    stores: { relational: { sensorOf: () => 's', state: { sensors: new Map() } } },
  } as unknown as FleetView;
  const checker = revoked.make(fleet, (detail) => found.push(detail));
  checker.observe?.(opened, 0);
  checker.observe?.(revocation, 1_000);
  const nowMs = 1_000 + revokedForMs;
  if (typeof pause === 'object') checker.observe?.(resumed, nowMs - pause.overForMs);
  checker.probe?.(nowMs);
  return found;
}

it('should report a stream that outlives the revocation of its sensor', () => {
  const report = `${CONSOLE} holds a stream of a sensor revoked ${LONG_MS} ms ago`;
  expect(lookAfter(LONG_MS, 'none')).toEqual([report]);
});

it('should give a paused Console the time from when it goes on, and not more', () => {
  expect(lookAfter(10 * LONG_MS, 'lasts')).toEqual([]);
  expect(lookAfter(10 * LONG_MS, { overForMs: 1_000 })).toEqual([]);
  const report = `${CONSOLE} holds a stream of a sensor revoked ${LONG_MS} ms ago`;
  expect(lookAfter(10 * LONG_MS, { overForMs: LONG_MS })).toEqual([report]);
});
