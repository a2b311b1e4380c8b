// An engine that dies and one that stands still: the Sensor starts it again, says so, and goes on collecting.
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeSensor, type RunningSensor } from '../peers/running-sensor.ts';

/** Runs the suite with the signal that takes the engine away. */
export function describeEngineLoss(what: string, signal: 'SIGKILL' | 'SIGSTOP'): void {
  let sensor: RunningSensor;
  beforeEach(async () => {
    sensor = await makeSensor({
      ENGINE_HANG_TIMEOUT_MS: 5_000,
      ENGINE_RESTART_BACKOFF_MIN_MS: 50,
      ENGINE_RESTART_BACKOFF_MAX_MS: 100,
    });
  });
  afterEach(() => sensor.close());
  const engineOf = (beat: Record<string, unknown> | undefined) =>
    (beat?.['engine'] ?? {}) as { state?: string; restarts?: number };
  const isRunning = (restarts: number) => () => {
    const engine = engineOf(sensor.beats().at(-1));
    return engine.state === 'running' && Number(engine.restarts) >= restarts;
  };

  describe('the engine of a running Sensor', () => {
    it(`should be started again when it ${what}`, async () => {
      const { peer } = sensor;
      await sensor.start();
      await peer.until('a running engine', isRunning(0));
      const [first] = enginesOf(sensor.stateDir);
      if (first === undefined) throw new Error('there is no engine');
      process.kill(first, signal);
      await peer.until('a running engine again', isRunning(1));
      const [second] = enginesOf(sensor.stateDir);
      expect(second).not.toBe(first);
      expect(sensor.beats().some((beat) => engineOf(beat).state !== 'running')).toBe(true);
      await sensor.addLines(0, 5);
      const seen = () => new Set(peer.batches.flatMap(({ ids }) => ids));
      await peer.until('events', () => sensor.idsOf(0, 5).every((id) => seen().has(id)));
      await sensor.stop();
      expect(enginesOf(sensor.stateDir)).toEqual([]);
    });
  });
}

// Engines that write into this Sensor's folder and are no zombies.
function enginesOf(stateDir: string): number[] {
  const textOf = (file: string): string => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return '';
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => textOf(`/proc/${name}/cmdline`).includes(`${stateDir}/engine/export`))
    .map(Number);
}
