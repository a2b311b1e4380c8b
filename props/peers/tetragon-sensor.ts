// A whole Sensor whose engine is the peer of Tetragon: what the peer writes arrives at the Console, and an engine that is
// taken away is started again.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEngineLauncher } from '../../sensor/engine/engine-launcher.ts';
import { createTetragon } from '../../sensor/engine/tetragon/tetragon.ts';
import { normalise } from '../../sensor/pipeline/normalise.ts';
import { createProcessCache } from '../../sensor/pipeline/process-cache.ts';
import { SENSOR_ID } from './console-peer.ts';
import { makeSensor, type RunningSensor } from './running-sensor.ts';
import { makePeerBundle, type PeerBundle } from './tetragon-bundle.ts';

const GAP = /^The engine lost \d+ events: nobody watched from \S+ to \S+ \(killed\)$/;
const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stdout.write('tetragon in a Sensor: skipped, the engine runs as root only\n');

/** Runs the story with the signal that takes Tetragon away. */
export function describeTetragonLoss(what: string, signal: 'SIGKILL' | 'SIGSTOP'): void {
  describe.skipIf(!isRoot)('a Sensor with Tetragon', () => {
    let sensor: RunningSensor;
    let bundle: PeerBundle;
    beforeEach(async () => {
      bundle = makePeerBundle();
      sensor = await makeSensor({
        ENGINE_HANG_TIMEOUT_MS: 5_000,
        ENGINE_RESTART_BACKOFF_MIN_MS: 50,
        ENGINE_RESTART_BACKOFF_MAX_MS: 100,
      });
    });
    afterEach(async () => {
      await sensor.close();
      bundle.remove();
    });
    const engineOf = () =>
      (sensor.beats().at(-1)?.['engine'] ?? {}) as Readonly<Record<string, unknown>>;
    const isRunning = (restarts: number) => () =>
      engineOf()['state'] === 'running' && Number(engineOf()['restarts']) >= restarts;
    const pid = () => Number(readFileSync(bundle.host.pidFile, 'utf8'));

    it(`should deliver what it writes and start it again when it ${what}`, async () => {
      const { peer, stateDir } = sensor;
      const tetragon = createTetragon(stateDir, await bundle.settings(), { host: bundle.host });
      await sensor.start({ engine: createEngineLauncher(stateDir, 'auto', { tetragon }) });
      await peer.until('a running engine', isRunning(0));
      expect(engineOf()).toMatchObject({ kind: 'tetragon', version: '1.7.0' });
      await bundle.order({ do: 'write', from: 1, count: 50 });
      await bundle.order({ do: 'rotate' });
      await bundle.order({ do: 'write', from: 51, count: 50 });
      const first = pid();
      process.kill(first, signal);
      await peer.until('a running engine again', isRunning(1));
      expect(pid()).not.toBe(first);
      await bundle.order({ do: 'write', from: 101, count: 50 });
      const written = idsIn(path.join(stateDir, 'engine', 'export'));
      expect(written).toHaveLength(150);
      const seen = () => new Set(peer.batches.flatMap(({ ids }) => ids));
      await peer.until('every event', () => written.every((id) => seen().has(id)));
      await peer.until('when nobody watched', () => peer.messages.some((one) => GAP.test(one)));
      const second = pid();
      await sensor.stop();
      expect(() => process.kill(second, 0)).toThrow();
    });
  });
}

function idsIn(directory: string): readonly string[] {
  return readdirSync(directory)
    .flatMap((name) => readFileSync(path.join(directory, name), 'utf8').trim().split('\n'))
    .map((line) => normalise(line, { sensorId: SENSOR_ID, cache: createProcessCache() }))
    .map((result) => (result.ok ? result.event.event_id : ''));
}
