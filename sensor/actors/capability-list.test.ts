// A capability that nobody else knows of: everything it contributes works by its one line in the list.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeSensor, type RunningSensor } from '../../props/peers/running-sensor.ts';
import { wholeSection } from '../capabilities/telemetry/section.ts';
import { CAPABILITIES } from '../capabilities.ts';
import type { SensorCapability } from '../capability.ts';
import { createOpenedList } from './opened.ts';

let sensor: RunningSensor;
beforeEach(async () => {
  sensor = await makeSensor();
});
afterEach(() => sensor.close());

function witness() {
  const seen: string[] = [];
  const capability: SensorCapability<{ readonly word: string }> = {
    name: 'witness',
    open: () => ({
      service: { word: 'here' },
      announces: ['witness.v1'],
      collect() {
        seen.push('collects');
        return async () => void seen.push('collected');
      },
      forward: ({ sensorId }) => ({
        heartbeat: () => ({
          text: '"telecom":{"witness":"here"}',
          heard: (answer) => void seen.push(`contained ${answer?.is_contained}`),
        }),
        frames: {
          refresh: ({ what }) => void seen.push(`refresh ${what.join()}`),
        },
        stop: () => void seen.push(`left ${sensorId === '' ? 'nobody' : 'somebody'}`),
      }),
      inventory: [{ read: async () => new Map([['packages', wholeSection([{ name: 'curl' }])]]) }],
      status: () => ({ witness: seen.length }),
      close: () => void seen.push('closed'),
    }),
  };
  return { capability, seen };
}

describe('the list of capabilities', () => {
  it('should carry what one contributes to the Console and back, and end it in order', async () => {
    const { capability, seen } = witness();
    await sensor.start({ capabilities: [...CAPABILITIES, capability] });
    await sensor.peer.until('its section', () =>
      sensor.peer.requests.some(
        ({ path, json }) =>
          path === '/sensors/inventory' && Object.hasOwn(Object(json['sections']), 'packages'),
      ),
    );
    const [beat] = sensor.beats();
    expect(beat?.['telecom']).toEqual({ witness: 'here' });
    const { capabilities: announced } = Object(beat?.['sensor']);
    expect(announced).toEqual(expect.arrayContaining(['stream.v1', 'witness.v1']));
    await sensor.peer.until('its answer', () => seen.includes('contained false'));
    // Orders of containment would be carried out on the machine of the test.
    sensor.peer.sendAll({ type: 'refresh', what: ['inventory'] });
    sensor.peer.sendAll({ type: 'refresh', what: ['certificate'] });
    await vi.waitUntil(() => seen.includes('refresh certificate'), { timeout: 60_000 });
    await sensor.stop();
    const told = seen.filter((word) => !word.startsWith('contained'));
    expect(told).toEqual([
      'collects',
      'refresh inventory',
      'refresh certificate',
      'left somebody',
      'collected',
      'closed',
    ]);
    const status = JSON.parse(await readFile(join(sensor.stateDir, 'run', 'status.json'), 'utf8'));
    expect(status).toMatchObject({ witness: seen.length, state: 'stopped' });
    expect(status.actors).toMatchObject({ node: expect.anything() });
  });

  it('should give a later one the service of an earlier one, and refuse what is not open', async () => {
    const { capability } = witness();
    const list = createOpenedList();
    expect(() => list.use(capability)).toThrow('witness is not open yet');
    await list.open([capability], {} as Parameters<typeof list.open>[1]);
    expect(list.use(capability)).toEqual({ word: 'here' });
  });

  it('should collect once however often it is asked, and not after it was told to stop', async () => {
    const moves: string[] = [];
    const begun = Promise.withResolvers<void>();
    const slow: SensorCapability = {
      name: 'slow',
      open: () => ({
        service: null,
        async collect() {
          await begun.promise;
          moves.push('begins');
          return async () => void moves.push('ends');
        },
      }),
    };
    const list = createOpenedList();
    await list.open([slow], {} as Parameters<typeof list.open>[1]);
    const asked = [list.startCollecting(), list.startCollecting()];
    const stopped = list.stopCollecting();
    begun.resolve();
    await Promise.all([...asked, stopped]);
    expect(moves).toEqual(['begins', 'ends']);
  });
});
