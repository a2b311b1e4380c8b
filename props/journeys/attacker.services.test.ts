// A scripted intruder in a hand-made container: what it does is told by the eBPF engine, as a multiset by kind, binary and
// parent, with the container and the ancestry. How late the last of it was listed is printed, and judged by nobody: what else
// runs on the machine decides it. decision: D44
import { realpathSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { items } from './api.ts';
import { type AttackerStage, openAttackerStage, SHELL } from './attacker-stage.ts';
import { missingForEbpf } from './ebpf.ts';
import {
  createToken,
  isHealthy,
  isSkipped,
  onlySensor,
  startConsole,
  startSensor,
  stop,
} from './fleet.ts';
import { eventually, type Home, makeHome, removeHome } from './programs.ts';

const TIMEOUT_MS = 900_000;
const ROUNDS = 3;
const NODE = realpathSync(process.execPath);
const PERL = '/usr/bin/perl';
const EXPECTED: Readonly<Record<string, number>> = {
  ...lived('/usr/bin/curl', SHELL),
  [`network_connect /usr/bin/curl < ${SHELL}`]: 1,
  ...lived('/usr/bin/su', SHELL),
  ...lived(SHELL, '/usr/bin/su'),
  ...lived('/usr/bin/id', SHELL),
  ...lived(PERL, SHELL, 2),
  [`kernel_module_load ${PERL} < ${SHELL}`]: 1,
  [`dns_query ${PERL} < ${SHELL}`]: 2,
  [`network_connect ${PERL} < ${SHELL}`]: 1,
  ...lived('/usr/bin/cat', SHELL),
  [`file_open /usr/bin/cat < ${SHELL}`]: 1,
  ...lived('/usr/bin/sh', SHELL),
  ...lived('/usr/bin/id', '/usr/bin/sh'),
  // The storm: forks that run nothing.
  [`process_exit ${SHELL} < ${SHELL}`]: 40,
  // The script itself, which was told to begin before it entered the container.
  [`process_exit ${SHELL} < ${NODE}`]: 1,
};
type Told = {
  readonly event_kind: string;
  readonly process?: { readonly binary: string; readonly exec_id: string };
  readonly parent?: { readonly binary: string };
  readonly ancestors?: readonly { readonly binary: string }[];
  readonly workload?: { readonly container_id?: string };
  readonly network?: { readonly domain?: string; readonly destination_port?: number };
  readonly file?: { readonly path: string };
  readonly occurrences?: number;
};

/** Began and ended so often. */
function lived(binary: string, parent: string, times = 1): Record<string, number> {
  const key = `${binary} < ${parent}`;
  return { [`process_exec ${key}`]: times, [`process_exit ${key}`]: times };
}

let home: Home | null = null;
let stage: AttackerStage | null = null;
afterEach(async () => {
  if (home !== null) await removeHome(home);
  stage?.close();
});

it.skipIf(isSkipped('attacker', missingForEbpf()))(
  'should be told at the Console whole, with its container and its ancestry',
  { timeout: TIMEOUT_MS },
  async () => {
    home = await makeHome();
    const at = home;
    const running = await startConsole(at);
    const sensor = startSensor(at, { token: await createToken(at) });
    await onlySensor(at, isHealthy);
    stage = await openAttackerStage();
    const set = stage;
    const late: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) late.push(await attack(at, set));
    process.stderr.write(`attacker: the slowest event was listed after ${late.join(', ')} ms\n`);
    expect(await stop(sensor)).toBe(0);
    expect(await stop(running)).toBe(0);
  },
);

/** One attack; answers how long after its end the whole of it was listed. */
async function attack(at: Home, set: AttackerStage): Promise<number> {
  const { id, endedAt } = await set.attack();
  const { port } = set;
  const own = async () =>
    (await items<Told>(at, '/api/v2/events?from=now-2m&limit=500')).filter(
      ({ workload }) => workload?.container_id?.startsWith(id.slice(0, 31)) === true,
    );
  const told = await eventually('its end is listed', async () => {
    const all = await own();
    return all.some((one) => one.event_kind === 'process_exit' && isScript(one)) ? all : null;
  });
  const listedMs = Date.now() - endedAt;
  const counts = multisetOf(told.filter((one) => !isPam(one)));
  expect(Object.fromEntries(counts)).toEqual(EXPECTED);
  expect(told.some((one) => isPam(one) && one.event_kind === 'privilege_change')).toBe(true);
  const find = (kind: string, binary: string) =>
    told.find((one) => one.event_kind === kind && one.process?.binary === binary);
  expect(find('dns_query', PERL)?.network?.domain).toBe('evil.example');
  // It went where the name server sent it.
  expect(find('network_connect', PERL)?.network?.domain).toBe('evil.example');
  expect(find('network_connect', '/usr/bin/curl')?.network?.destination_port).toBe(port);
  expect(find('file_open', '/usr/bin/cat')?.file?.path).toBe('/etc/shadow');
  const short = told.find((one) => keyOf(one) === 'process_exec /usr/bin/id < /usr/bin/sh');
  expect(short?.ancestors?.map(({ binary }) => binary)).toContain(SHELL);
  return listedMs;
}

const isScript = (one: Told) => one.process?.binary === SHELL && one.parent?.binary === NODE;
// What the modules of `su` open and change is the distribution's.
const isPam = (one: Told) =>
  one.process?.binary === '/usr/bin/su' && !one.event_kind.startsWith('process_');
// A burst is so many starts.
const kindOf = (one: Told) => one.event_kind.replace('process_burst', 'process_exec');
const keyOf = (one: Told) => `${kindOf(one)} ${one.process?.binary} < ${one.parent?.binary}`;

/** How often each kind was told of each binary under each parent; a burst counts what it stands for. */
function multisetOf(told: readonly Told[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of told) {
    const key = keyOf(one);
    counts.set(key, (counts.get(key) ?? 0) + (one.occurrences ?? 1));
  }
  return counts;
}
