// Another bundle of Tetragon that the operator pins while the Sensor runs: it takes the place of the one before, and one
// that does not come up gives it back. decision: D50
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEngineLauncher } from '../../sensor/engine/engine-launcher.ts';
import { pinOf } from '../../sensor/engine/tetragon/bundle.ts';
import { createTetragon, type TetragonSettings } from '../../sensor/engine/tetragon/tetragon.ts';
import { makeSensor, type RunningSensor } from './running-sensor.ts';
import { makePeerBundle, type PeerBundle } from './tetragon-bundle.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stdout.write('another bundle: skipped, the engine runs as root only\n');

let sensor: RunningSensor;
let bundle: PeerBundle;
let settings: TetragonSettings;
beforeEach(async () => {
  bundle = makePeerBundle();
  settings = await bundle.settings();
  sensor = await makeSensor({
    ENGINE_UPGRADE_LOOK_MS: 100,
    ENGINE_RESTART_BACKOFF_MIN_MS: 50,
    ENGINE_RESTART_BACKOFF_MAX_MS: 100,
  });
  await begin();
});
afterEach(async () => {
  await sensor.close();
  bundle.remove();
});

/** Starts the Sensor, with the settings as they are now, and waits for word of its engine. */
async function begin(): Promise<void> {
  const tetragon = createTetragon(sensor.stateDir, settings, {
    host: bundle.host,
    read: async () => settings,
  });
  const before = sensor.beats().length;
  await sensor.start({ engine: createEngineLauncher(sensor.stateDir, 'auto', { tetragon }) });
  const isRunning = () => sensor.beats().length > before && engineOf()['state'] === 'running';
  await sensor.peer.until('a running engine', isRunning);
}

const engineOf = () =>
  (sensor.beats().at(-1)?.['engine'] ?? {}) as Readonly<Record<string, unknown>>;
const hooks = () => JSON.stringify(engineOf()['disabled_hooks']);
const pid = () => Number(readFileSync(bundle.host.pidFile, 'utf8'));
const programOf = (one: number) => readFileSync(`/proc/${one}/cmdline`, 'utf8');
const program = () => path.join(bundle.directory, 'usr', 'local', 'bin', 'tetragon');

/** Names the unpacked bundle with what it holds now. */
async function pinDirectory(): Promise<string> {
  const sha256 = await pinOf(bundle.directory);
  settings = { ...settings, bundle: bundle.directory, sha256 };
  return sha256;
}

describe.skipIf(!isRoot)('a Sensor with Tetragon, when another bundle is pinned', () => {
  it('should wait until bundle and pin fit, then run the other one, which is no restart', async () => {
    const first = pid();
    await bundle.order({ do: 'write', from: 1, count: 20 });
    settings = { ...settings, sha256: 'a'.repeat(64) };
    const beats = sensor.beats().length;
    await sensor.peer.until('more heartbeats', () => sensor.beats().length > beats + 2);
    expect(pid()).toBe(first);
    writeFileSync(path.join(bundle.directory, 'install.sh'), '#!/bin/sh\n# another bundle\n');
    const pin = await pinDirectory();
    const isAnother = () => {
      try {
        return pid() !== first && programOf(pid()).includes(pin.slice(0, 16));
      } catch {
        return false; // between the two
      }
    };
    await sensor.peer.until('another process', isAnother);
    await bundle.order({ do: 'write', from: 21, count: 20 });
    const isHeard = () => engineOf()['state'] === 'running' && engineOf()['restarts'] === 0;
    await sensor.peer.until('a running engine', isHeard);
    expect(hooks()).not.toContain('engine/upgrade');
    expect(() => process.kill(first, 0)).toThrow();
  });

  it('should run the one before again when the other does not come up, and say why', async () => {
    const first = pid();
    writeFileSync(program(), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
    const pin = await pinDirectory();
    const isBack = () => engineOf()['state'] === 'running' && engineOf()['restarts'] === 1;
    await sensor.peer.until('an engine again', isBack);
    expect(pid()).not.toBe(first);
    await sensor.peer.until('the reason', () => hooks().includes('engine/upgrade'));
    expect(hooks()).toContain(`tetragon (${pin.slice(0, 12)}) did not take over`);
    const beats = sensor.beats().length;
    await sensor.peer.until('more heartbeats', () => sensor.beats().length > beats + 2);
    expect(engineOf()).toMatchObject({ state: 'running', restarts: 1, kind: 'tetragon' });
  });

  it('should run the one before when the Sensor starts again, as long as it lies there', async () => {
    const own = String(settings.sha256).slice(0, 16);
    const bundles = path.join(sensor.stateDir, 'engine', 'tetragon', 'bundles');
    writeFileSync(program(), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
    const pin = await pinDirectory();
    await sensor.peer.until('the reason', () => hooks().includes('engine/upgrade'));
    await sensor.stop();
    await begin();
    expect(programOf(pid())).toContain(own);
    expect(engineOf()).toMatchObject({ kind: 'tetragon', restarts: 0 });
    expect(hooks()).toContain(`tetragon (${pin.slice(0, 12)}) did not take over`);
    const beats = sensor.beats().length;
    await sensor.peer.until('more heartbeats', () => sensor.beats().length > beats + 2);
    expect(engineOf()).toMatchObject({ kind: 'tetragon', restarts: 0 });
    await sensor.stop();
    expect(readdirSync(bundles)).toContain(own);
    rmSync(path.join(bundles, own), { recursive: true });
    await begin();
    await sensor.peer.until('no more word of it', () => !hooks().includes('engine/upgrade'));
    expect(engineOf()['kind']).not.toBe('tetragon');
  });

  it('should take over from a lesser engine when it is pinned, and leave it when it does not come up', async () => {
    const pinned = settings;
    await sensor.stop();
    settings = { ...settings, bundle: null, sha256: null };
    await begin();
    const lesser = engineOf()['kind'];
    expect(lesser).not.toBe('tetragon');
    settings = pinned;
    const isTaken = () => engineOf()['kind'] === 'tetragon' && engineOf()['state'] === 'running';
    await sensor.peer.until('Tetragon', isTaken);
    expect(engineOf()['restarts']).toBe(0);
    expect(hooks()).not.toContain('engine/tetragon');
    await sensor.stop();
    settings = { ...settings, bundle: null, sha256: null };
    await begin();
    writeFileSync(program(), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
    const pin = await pinDirectory();
    await sensor.peer.until('the reason', () => hooks().includes('engine/upgrade'));
    expect(hooks()).toContain(`tetragon (${pin.slice(0, 12)}) did not take over`);
    const isBack = () => engineOf()['kind'] === lesser && engineOf()['state'] === 'running';
    await sensor.peer.until('the lesser one', isBack);
    expect(engineOf()['restarts']).toBe(1);
    await sensor.stop();
    await begin();
    expect(engineOf()).toMatchObject({ kind: lesser, restarts: 0 });
    expect(hooks()).toContain(`tetragon (${pin.slice(0, 12)}) did not take over`);
  });
});
