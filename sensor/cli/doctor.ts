// `service-sensor doctor`: what keeps this Sensor from working, each with what to do about it.
import { lookup } from 'node:dns/promises';
import { mkdtemp, readFile, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  DISK_FREE_MIN_BYTES,
  REQUEST_TIMEOUT_MS,
  SKEW_TOLERATED_MS,
} from '../../machines/limits.ts';
import { EXIT } from '../../machines/sensor/node.rules.ts';
import { kindOfSecret } from '../../machines/trust/secret.rules.ts';
import { CAPABILITIES } from '../capabilities.ts';
import type { Check } from '../capability.ts';
import type { SensorConfig } from '../config/config.ts';
import type { EngineKind } from '../engine/choice.ts';
import { notHonoured } from '../engine/ebpf-settings.ts';
import { type Kernel, readKernel } from '../engine/kernel.ts';
import { layOutAndChoose } from '../engine/lay-out.ts';
import { openTraceRoot } from '../engine/procfs/trace-root.ts';
import { createTetragon } from '../engine/tetragon/tetragon.ts';
import { parseSensorState, STATE_FILES } from '../state-directory/identity.ts';
import { type KubernetesAccess, readWorkloads } from '../telemetry/kubernetes-lists.ts';
import { createTlsAgent } from '../transport/agent.ts';
import { sentenceOf } from '../transport/answer.ts';
import { exchange } from '../transport/console-client.ts';
import { fetchPinnedCa, parseFingerprint } from '../transport/pinned-ca.ts';
import { disabledHooks, type Live, readLive, refusedUpgrades } from './live-status.ts';
import { type Row, tableOf } from './status-table.ts';

const CLOCK_YEAR_MIN = 2_025;
const MIB = 1_024 * 1_024;

/** Runs every check; exit code 1 when one fails. */
export async function runDoctor(
  config: SensorConfig,
  readToken: () => Promise<string | null>,
  isTokenGiven: boolean,
): Promise<number> {
  const text = await readFile(`${config.stateDir}/${STATE_FILES.state}`, 'utf8').catch(() => '');
  const parsed = parseSensorState(text);
  const state = parsed.ok ? parsed.value : null;
  const known = state?.console_url;
  const url = config.consoleUrl ?? (known === undefined ? null : URL.parse(known));
  const token = await readToken();
  const { check: engine, kind } = await checkEngine(config);
  const live = await readLive(config.stateDir);
  const own = CAPABILITIES.map(
    async ({ checks }) => (await checks?.({ config, engine: kind })) ?? [],
  );
  const checks: Check[] = [
    ...(await checkConsole(config, url)),
    await checkDisk(config.stateDir),
    ...(await checkKernel(kind)),
    engine,
    ...hooksCheck(live),
    ...upgradeCheck(live, config.stateDir),
    ...(await Promise.all(own)).flat(),
    ...(config.kubernetes === null ? [] : [await checkCluster(config.kubernetes)]),
    checkToken(token, isTokenGiven, state !== null),
  ];
  const rows = checks.map(({ name, isGood, text, more = [] }): Row => {
    return [`${isGood ? '✓' : '✗'} ${name}`, text, ...more];
  });
  process.stdout.write(tableOf(rows, process.stdout.columns));
  return checks.every(({ isGood }) => isGood) ? EXIT.ok : EXIT.failed;
}

async function checkConsole(config: SensorConfig, url: URL | null): Promise<Check[]> {
  if (url === null) {
    const text = 'no address: give --url or set SERVICE_SENSOR_CONSOLE_URL';
    return [{ name: 'console', isGood: false, text }, clockCheck(null)];
  }
  const address = await lookup(url.hostname).catch(() => null);
  const dns: Check = {
    name: 'dns',
    isGood: address !== null,
    text: `${url.hostname} ${address === null ? 'is not known: check the name' : `is ${address.address}`}`,
  };
  const ca = await trustAnchor(config, url);
  if (!ca.ok) return [dns, { name: 'tls', isGood: false, text: ca.reason }, clockCheck(null)];
  const agent = createTlsAgent(
    { keyPem: null, certPem: null, caPem: ca.caPem },
    { proxyUrl: config.proxyUrl },
  );
  const answer = await exchange({
    url: new URL('/version', url),
    method: 'GET',
    body: null,
    agent,
    headers: {},
    timeoutMs: REQUEST_TIMEOUT_MS / 2,
  });
  agent.destroy();
  const isReached = answer.ok || answer.kind === 'refused';
  const text = isReached ? `${url.host} answers, its certificate is trusted` : sentenceOf(answer);
  return [dns, { name: 'tls', isGood: isReached, text }, clockCheck(answer.dateMs ?? null)];
}

type Anchor =
  | { readonly ok: true; readonly caPem: string | null }
  | { readonly ok: false; readonly reason: string };

// The CA a `run` would use: the kept one, a given file, a pinned one, else the public chain.
async function trustAnchor(config: SensorConfig, url: URL): Promise<Anchor> {
  if (config.caFile !== null) {
    const caPem = await readFile(config.caFile, 'utf8').catch(() => null);
    if (caPem === null) return { ok: false, reason: `${config.caFile} cannot be read` };
    return { ok: true, caPem };
  }
  const kept = await readFile(`${config.stateDir}/${STATE_FILES.consoleCa}`, 'utf8').catch(
    () => null,
  );
  if (kept !== null || config.caFingerprint === null) return { ok: true, caPem: kept };
  const fingerprint = parseFingerprint(config.caFingerprint);
  if (fingerprint === null) return { ok: false, reason: 'the CA fingerprint is not a SHA-256' };
  const pinned = await fetchPinnedCa(url, fingerprint, config.proxyUrl);
  return pinned.ok ? pinned : { ok: false, reason: pinned.reason };
}

// The Console's Date has whole seconds, and an answer takes a moment: the tolerance is far above both.
function clockCheck(consoleMs: number | null): Check {
  const now = new Date();
  const skew = `up to ${SKEW_TOLERATED_MS / 60_000} min are tolerated`;
  if (consoleMs === null) {
    const isGood = now.getUTCFullYear() >= CLOCK_YEAR_MIN;
    const text = isGood ? `${now.toISOString()}, not compared with the Console` : 'set the clock';
    return { name: 'clock', isGood, text };
  }
  const offMs = now.getTime() - consoleMs;
  const isGood = Math.abs(offMs) <= SKEW_TOLERATED_MS;
  const seconds = Math.round(Math.abs(offMs) / 1_000);
  const side = offMs < 0 ? 'behind' : 'ahead of';
  const far = seconds <= 1 ? "agrees with the Console's" : `${seconds} s ${side} the Console's`;
  return { name: 'clock', isGood, text: `${far} (${isGood ? skew : `${skew}: set the clock`})` };
}

async function checkDisk(stateDir: string): Promise<Check> {
  for (let path = stateDir; ; path = dirname(path)) {
    const facts = await statfs(path).catch(() => null);
    if (facts === null && path !== dirname(path)) continue;
    const free = facts === null ? 0 : facts.bavail * facts.bsize;
    const isGood = free >= DISK_FREE_MIN_BYTES;
    const advice = isGood ? '' : `: the spool needs ${DISK_FREE_MIN_BYTES / MIB} MiB`;
    return { name: 'disk', isGood, text: `${Math.floor(free / MIB)} MiB free${advice}` };
  }
}

async function checkKernel(engine: EngineKind): Promise<Check[]> {
  const kernel = await readKernel();
  const found = process.getuid?.() === 0 ? await openTraceRoot() : { refused: 'run as root' };
  const isGood = 'root' in found;
  return [
    { name: 'kernel', isGood: true, text: kernelText(kernel, engine) },
    {
      name: 'tracefs',
      isGood,
      text: isGood
        ? 'every process is seen'
        : `${found.refused}, or short-lived processes are not seen`,
    },
  ];
}

/** The kernel, and what its being a PREEMPT_RT one keeps this engine from. */
export function kernelText({ release, preemptRt }: Kernel, engine: EngineKind): string {
  if (!preemptRt) return release;
  const off = engine === 'tetragon' ? ': policies whose kprobes override are refused' : '';
  return `${release}, PREEMPT_RT${off}`;
}

/** Chooses as `run` would, in a place of its own: a check leaves nothing behind. */
async function checkEngine(
  config: SensorConfig,
): Promise<{ readonly check: Check; readonly kind: EngineKind }> {
  const name = 'engine';
  // Without one, policies are judged for the engine that was asked for.
  const wanted = config.engine === 'auto' ? 'ebpf' : config.engine;
  const tetragon = createTetragon(config.stateDir, config.tetragon);
  const scratch = await mkdtemp(join(tmpdir(), 'service-sensor-doctor-'));
  try {
    const { choice } = await layOutAndChoose(scratch, config.engine, {
      whyNotTetragon: tetragon.whyNot,
    });
    const passed = choice.passedOver.map(({ hook, reason }) => `not ${hook.slice(7)}: ${reason}`);
    const asked = choice.ok ? await notHonoured(choice.kind, config.ebpf) : [];
    const more = [...passed, ...asked.map(({ hook, reason }) => `${hook}: ${reason}`)];
    if (!choice.ok) return { kind: wanted, check: { name, isGood: false, text: 'none', more } };
    return { kind: choice.kind, check: { name, isGood: true, text: choice.kind, more } };
  } catch (error) {
    return { kind: wanted, check: { name, isGood: false, text: String(error) } };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Asks as `run` would; without an answer events lack their pod and workload, and nothing else. */
async function checkCluster(access: KubernetesAccess): Promise<Check> {
  const name = 'cluster';
  return await readWorkloads(access).then(
    ({ containers: { size } }) => {
      return { name, isGood: true, text: `tells ${size} containers of ${access.nodeName}` };
    },
    (error: Error) => ({ name, isGood: false, text: error.message }),
  );
}

/** What the engine of the running Sensor lacks; some of it is as this kernel is, so that it is no failure. */
function hooksCheck(live: Live | null): Check[] {
  const more = disabledHooks(live);
  return more.length === 0
    ? []
    : [{ name: 'hooks', isGood: true, text: `${more.length} disabled`, more }];
}

/** A newer build of the engine that the running Sensor could not take. */
function upgradeCheck(live: Live | null, stateDir: string): Check[] {
  const file = join(stateDir, STATE_FILES.engineTrials);
  const fix = `the one before runs on; to try the same again, remove ${file} and restart`;
  return refusedUpgrades(live).map((reason) => {
    return { name: 'upgrade', isGood: false, text: reason, more: [fix] };
  });
}

function checkToken(token: string | null, isGiven: boolean, isEnrolled: boolean): Check {
  const name = 'token';
  if (token === null) {
    const none = isEnrolled ? 'none given, none needed: enrolled' : 'none given';
    return isGiven
      ? { name, isGood: false, text: 'empty, too long or not readable: check the file' }
      : { name, isGood: true, text: none };
  }
  const kind = kindOfSecret(token);
  const isGood = kind === 'enrollment' || kind === 'reenrollment';
  if (isGood) return { name, isGood, text: `well-formed, for ${kind}` };
  const text = kind === null ? 'not a token: copy it whole' : 'a key of another kind, not a token';
  return { name, isGood, text };
}
