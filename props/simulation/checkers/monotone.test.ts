// Numbers of a stream that went on under another sensor, which PostgreSQL forgot later: what is stored of it counts all the
// same, and nothing else does.
import { expect, it } from 'vitest';
import type { Observation } from '../world/observation.ts';
import type { FleetView } from './checker.ts';
import { monotone } from './monotone.ts';

const enrolled = (sensor: string): Observation => ({
  ...{ kind: 'sensor.enrolled', sensor, token: 't', fingerprint: `of ${sensor}` },
  ...{ repeated: false, notAfterMs: 1e12, nowMs: 0 },
});
const confirmed = (sequence: number): Observation =>
  ({
    ...{ kind: 'batch.acknowledged', console: 'c', askedAtMs: 0, fingerprint: 'f' },
    batch: { stream: 'stream', channel: 'stream', sequence, events: [] },
  }) as unknown as Observation;

/** What is found where the database knows the first sensor alone, and so much is stored of each. */
function judge(stored: Readonly<Record<string, number>>): readonly string[] {
  const highest = ({ sensorId }: { readonly sensorId: string }) => stored[sensorId] ?? 0;
  const running = () => ({ side: { ingest: { ledgers: [{ highest }] } } });
  const state = { sensors: new Map([['first', {}]]) };
  const fleet = { consoles: [{ running }], stores: { relational: { state } } };
  const found: string[] = [];
  const checker = monotone.make(fleet as unknown as FleetView, (detail) => found.push(detail));
  const story = [enrolled('first'), confirmed(7), enrolled('second'), confirmed(18)];
  for (const seen of story) checker.observe?.(seen, 0);
  checker.finish?.(0);
  return found;
}

it('should know what is stored under a sensor that PostgreSQL forgot', () => {
  expect(judge({ first: 7, second: 18 })).toEqual([]);
});

it('should find numbers that no sensor of the stream has', () => {
  expect(judge({ first: 7, second: 17 })).toEqual(['stream/stream went back from 18 to 17']);
});
