// From publishing a version to a node that says it enforces it: a quick-start Console and a real Sensor with the eBPF engine
// on this machine, a version after another. Needs root. `node props/bench/policy.ts [versions]`
import { setTimeout as wait } from 'node:timers/promises';
import {
  createToken,
  enroll,
  isHealthy,
  onlySensor,
  startConsole,
  startSensor,
  stop,
} from '../journeys/fleet.ts';
import { type Home, makeHome, removeHome } from '../journeys/programs.ts';
import { askConsole, makePack, publishFor, writeDraft } from './policy-pack.ts';
import { cpuSecondsOf } from './process-stats.ts';

const VERSIONS = Number(process.argv[2] ?? 10);
// Below the thousand requests a minute of an admin's key.
const LOOK_MS = 80;
const PATIENCE_MS = 60_000;
const REST_MS = 30_000;
const say = (text: string) => process.stdout.write(`${text}\n`);

async function measure(home: Home, sensorId: string, pid: number): Promise<void> {
  const packId = await makePack(home);
  const took: number[] = [];
  for (let version = 1; version <= VERSIONS; version += 1) {
    await writeDraft(home, packId, version);
    const began = performance.now();
    await publishFor(home, { kind: 'sensor', id: sensorId }, { packId, version });
    await enforced(home, sensorId, version, began);
    took.push(performance.now() - began);
  }
  const sorted = took.map(Math.round).sort((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  say(`publish to enforcing, as the Console hears it: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
  say(`  each: ${took.map(Math.round).join(', ')} ms`);
  const before = cpuSecondsOf(pid);
  await wait(REST_MS);
  const percent = ((cpuSecondsOf(pid) - before) / (REST_MS / 1_000)) * 100;
  say(`the Sensor at rest with the pack: ${percent.toFixed(2)} % of a processor`);
}

async function enforced(home: Home, sensorId: string, version: number, began: number) {
  type View = { reported: { state: string; version?: number; reason?: string } | null };
  for (;;) {
    const { reported } = await askConsole<View>(home, 'GET', `/sensors/${sensorId}/policy`);
    if (reported?.version === version && reported.state === 'enforcing') return;
    if (performance.now() - began > PATIENCE_MS) throw new Error(JSON.stringify(reported));
    await wait(LOOK_MS);
  }
}

const home = await makeHome();
try {
  const running = await startConsole(home);
  const enrolled = await enroll(home, await createToken(home));
  if (enrolled.code !== 0) throw new Error(enrolled.output);
  const sensor = startSensor(home);
  try {
    const { sensor_id } = await onlySensor(home, isHealthy, PATIENCE_MS);
    await measure(home, sensor_id, sensor.pid);
  } finally {
    await stop(sensor);
    await stop(running);
  }
} finally {
  await removeHome(home);
}
