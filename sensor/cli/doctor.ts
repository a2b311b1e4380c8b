// `service-sensor doctor`: what keeps this Sensor from working, each with what to do about it.
import { lookup } from 'node:dns/promises';
import { access, readFile, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  DISK_FREE_MIN_BYTES,
  REQUEST_TIMEOUT_MS,
  SKEW_TOLERATED_MS,
} from '../../machines/limits.ts';
import { EXIT } from '../../machines/sensor/node.rules.ts';
import { kindOfSecret } from '../../machines/trust/secret.rules.ts';
import type { SensorConfig } from '../config/config.ts';
import { readKernel } from '../engine/kernel.ts';
import { parseSensorState, STATE_FILES } from '../state-directory/identity.ts';
import { createTlsAgent } from '../transport/agent.ts';
import { sentenceOf } from '../transport/answer.ts';
import { exchange } from '../transport/console-client.ts';

type Check = { readonly name: string; readonly isGood: boolean; readonly text: string };
const CLOCK_YEAR_MIN = 2_025;

/** Runs every check; exit code 1 when one fails. */
export async function runDoctor(config: SensorConfig): Promise<number> {
  const state = await readFile(`${config.stateDir}/${STATE_FILES.state}`, 'utf8').catch(() => '');
  const parsed = parseSensorState(state);
  const known = parsed.ok ? parsed.value.console_url : undefined;
  const url = config.consoleUrl ?? (known === undefined ? null : URL.parse(known));
  const checks: Check[] = [...(await checkConsole(config, url)), await checkDisk(config.stateDir)];
  checks.push(...(await checkKernel()), checkToken(process.env['SERVICE_SENSOR_TOKEN']));
  for (const { name, isGood, text } of checks) {
    process.stdout.write(`${isGood ? '✓' : '✗'} ${name.padEnd(8)} ${text}\n`);
  }
  return checks.every(({ isGood }) => isGood) ? EXIT.ok : EXIT.failed;
}

async function checkConsole(config: SensorConfig, url: URL | null): Promise<Check[]> {
  if (url === null) {
    return [{ name: 'console', isGood: false, text: 'no address: set SERVICE_SENSOR_CONSOLE_URL' }];
  }
  const address = await lookup(url.hostname).catch(() => null);
  const dns: Check = {
    name: 'dns',
    isGood: address !== null,
    text: address === null ? `${url.hostname} is not known: check the name` : address.address,
  };
  const caFile = config.caFile ?? `${config.stateDir}/${STATE_FILES.consoleCa}`;
  const caPem = await readFile(caFile, 'utf8').catch(() => null);
  const agent = createTlsAgent(
    { keyPem: null, certPem: null, caPem },
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
  return [dns, { name: 'tls', isGood: isReached, text }, clockCheck()];
}

function clockCheck(): Check {
  const now = new Date();
  const isGood = now.getUTCFullYear() >= CLOCK_YEAR_MIN;
  const skew = `up to ${SKEW_TOLERATED_MS / 60_000} min of skew is tolerated`;
  return {
    name: 'clock',
    isGood,
    text: isGood ? `${now.toISOString()} (${skew})` : 'set the clock',
  };
}

async function checkDisk(stateDir: string): Promise<Check> {
  for (let path = stateDir; ; path = dirname(path)) {
    const facts = await statfs(path).catch(() => null);
    if (facts === null && path !== dirname(path)) continue;
    const free = facts === null ? 0 : facts.bavail * facts.bsize;
    const isGood = free >= DISK_FREE_MIN_BYTES;
    const text = `${Math.floor(free / 1_048_576)} MiB free${isGood ? '' : ': the spool needs 256 MiB'}`;
    return { name: 'disk', isGood, text };
  }
}

async function checkKernel(): Promise<Check[]> {
  const kernel = await readKernel();
  const hasTracefs = await access('/sys/kernel/tracing/instances').then(
    () => process.getuid?.() === 0,
    () => false,
  );
  const rt = kernel.preemptRt ? ', PREEMPT_RT: syscall kprobes stay off' : '';
  return [
    { name: 'kernel', isGood: true, text: kernel.release + rt },
    {
      name: 'tracefs',
      isGood: hasTracefs,
      text: hasTracefs
        ? 'every process is seen'
        : 'run as root, or short-lived processes are not seen',
    },
  ];
}

function checkToken(token: string | undefined): Check {
  const kind = token === undefined ? null : kindOfSecret(token.trim());
  const isGood = token === undefined || kind === 'enrollment' || kind === 'reenrollment';
  const text =
    token === undefined ? 'none in the environment' : `${kind ?? 'not a token: copy it whole'}`;
  return { name: 'token', isGood, text };
}
