// A stranger's first hour, recorded: a clone of this commit, an empty cache of packages, a terminal of 80 columns, and
// what the README and the programs say. Every command and its answer go to first-hour/transcript.txt, which somebody reads;
// how long each part took goes to first-hour/timing.md. It needs git, script(1), and the package registry.
//   node props/journeys/first-hour.ts                  all of it
//   node props/journeys/first-hour.ts --installed      with the packages of this checkout: the words, and no times

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, cpus, homedir, hostname, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { markdownTable } from '../pages/markdown-table.ts';
import { freePort, ROOT } from './programs.ts';
import { inherited, openTerminal, rowsOf, type Terminal } from './terminal.ts';

const KEPT = join(import.meta.dirname, 'first-hour');
const COMMAND_MS = 120_000;
const START_MS = 1_800_000;
const EVENT_MS = 600_000;
/** How long somebody looks at what runs by. */
const LOOK_MS = 3_000;
const EVENTS_KEPT = 12;
/** The kernel counts processor time in hundredths of a second. */
const TICK_MS = 10;
/** What a stranger tries next, one after the other. */
const LINES = [
  'npx service-console --help',
  'npx service-console sensors list',
  'npx service-console sensors get "$(npx service-console sensors list -o name)"',
  'npx service-console sensor list',
  'npx service-console events list --limit 5',
  'npx service-console doctor',
  'npx service-sensor status',
  'npx service-sensor doctor',
  'npx service-console audit list --limit 5',
  'npx service-console audit verify',
  'npx service-console tokens create',
  'npx service-console license show',
  'npx service-console whoami',
  'npx service-console start',
  'npx service-sensor enroll',
];

type Part = { readonly name: string; readonly wallMs: number; readonly cpuMs: number };

const folder = mkdtempSync(join(tmpdir(), 'first-hour-'));
// The database's own user must be able to reach its folder.
chmodSync(folder, 0o755);
const clone = join(folder, 'fleet-runtime-security');
const port = await freePort();
// How to reach the registry is this machine's; all else is a stranger's.
const userConfig = join(homedir(), '.npmrc');
const env: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(inherited()).filter(([name]) => !name.startsWith('SERVICE_')),
  ),
  HOME: join(folder, 'home'),
  ...(existsSync(userConfig) ? { npm_config_userconfig: userConfig } : {}),
  npm_config_cache: join(folder, 'npm'),
  XDG_STATE_HOME: join(folder, 'state'),
  SERVICE_CONSOLE_DATA_DIR: join(folder, 'state', 'console'),
  SERVICE_SENSOR_STATE_DIR: join(folder, 'state', 'sensor'),
  SERVICE_CONSOLE_PORT: String(port),
};
const isInstalled = process.argv.includes('--installed');
const transcript: string[] = [];
const parts: Part[] = [];
const begun: Terminal[] = [];

/** Runs a line of the shell as a person does: in a terminal of 80 columns, in the clone. */
const terminal = (line: string): Terminal => openTerminal(line, { at: clone, env });
const seenOf = (one: Terminal): string => rowsOf(one.raw()).join('\n');

/** What differs from run to run, and what nobody else should read, by words that say what it is. */
function told(text: string): string {
  return text
    .replaceAll(clone, '~/fleet-runtime-security')
    .replaceAll(folder, '/home/ada')
    .replaceAll(hostname(), 'node-a')
    .replaceAll(String(port), '15483')
    .replace(/(Password +)\S+/g, '$1<a password>')
    .replace(/\b(se|sr|sk|sl|tok|svc|svce)_[A-Za-z0-9_-]{20,}/g, '<a secret>')
    .replace(/\b[0-9a-f]{64}\b/g, '<64 hex digits>')
    .replace(/sha256\/\/[A-Za-z0-9+/=]+/g, 'sha256//<a key>')
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<an id>')
    .replace(/\b(?:\d{1,3}\.){3}\d{1,3}\b/g, (ip) => (ip.startsWith('127.') ? ip : '192.0.2.7'));
}

/** Of events, some that tell of this story: what else runs on the machine is nobody's business. */
function ownOf(rows: readonly string[]): string {
  const own = rows.filter((row) => row.includes(folder)).slice(0, EVENTS_KEPT);
  return [...own, `[and ${rows.length - own.length} more]`].join('\n');
}

function keep(line: string, answer: string, code: number | null): void {
  const shown = told(answer)
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd();
  const end = code === null || code === 0 ? '' : `\n[exit code ${code}]`;
  transcript.push(`$ ${line}\n${shown}${end}\n`);
}

/** One command to its end, kept. */
async function run(line: string): Promise<string> {
  const one = terminal(line);
  const timer = setTimeout(() => one.child.kill('SIGKILL'), COMMAND_MS);
  const code = await one.exited;
  clearTimeout(timer);
  keep(line, seenOf(one), code);
  return seenOf(one);
}

/** Waits until a terminal shows it; answers what it shows then. */
async function shows(one: Terminal, what: RegExp, withinMs: number): Promise<string> {
  const untilMs = Date.now() + withinMs;
  while (!what.test(seenOf(one))) {
    if (one.child.exitCode !== null || Date.now() > untilMs) {
      throw new Error(`it never showed ${what}:\n${seenOf(one)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return seenOf(one);
}

/** Processor time of a process and all below it, with those that ended and were waited for. */
function cpuMsOf(root: number): number {
  const below = new Map<number, number[]>();
  const ticks = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    const stat = statOf(name);
    if (stat === null) continue;
    below.set(stat.parent, [...(below.get(stat.parent) ?? []), Number(name)]);
    ticks.set(Number(name), stat.ticks);
  }
  const sum = (pid: number): number =>
    (below.get(pid) ?? []).reduce((all, child) => all + sum(child), ticks.get(pid) ?? 0);
  return sum(root) * TICK_MS;
}

function statOf(pid: string): { readonly parent: number; readonly ticks: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent = 0] = fields;
    return { parent, ticks: fields.slice(11, 15).reduce((sum, one) => sum + one, 0) };
  } catch {
    return null;
  }
}

/** From a clone to the first event that somebody sees, told by part. */
async function start(): Promise<Terminal> {
  let beganAtMs = performance.now();
  let cpuMs = 0;
  const part = (name: string, cpuNowMs: number): void => {
    const nowMs = performance.now();
    parts.push({ name, wallMs: nowMs - beganAtMs, cpuMs: cpuNowMs - cpuMs });
    [beganAtMs, cpuMs] = [nowMs, cpuNowMs];
  };
  mkdirSync(join(folder, 'home'), { recursive: true });
  execFileSync('git', ['clone', '--quiet', `file://${ROOT}`, clone]);
  part('the clone', 0);
  if (isInstalled) execFileSync('cp', ['-al', join(ROOT, 'node_modules'), clone]);
  const one = terminal('npm start');
  begun.push(one);
  const cpu = (): number => cpuMsOf(one.child.pid ?? 0);
  for (const [name, what] of [
    ['the locked packages', /Building the web page|Starting the databases/],
    ['the page', /Starting the databases/],
    ['databases, Console and Sensor', /Ctrl-C stops everything/],
  ] as const) {
    await shows(one, what, START_MS);
    part(name, cpu());
  }
  const tail = terminal('npx service-console events tail');
  await shows(tail, /^\S*\d\d:\d\d:\d\d.*$/m, EVENT_MS);
  part('the first event in `events tail`', cpu());
  await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  tail.child.stdin?.write('\u0003');
  await tail.exited;
  keep('npm start', seenOf(one), null);
  keep(
    'npx service-console events tail    # in a second terminal, ended with Ctrl-C',
    ownOf(seenOf(tail).split('\n')),
    null,
  );
  return one;
}

function timing(): string {
  const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
  const wallMs = parts.reduce((sum, one) => sum + one.wallMs, 0);
  const cpuMs = parts.reduce((sum, one) => sum + one.cpuMs, 0);
  const load = loadavg().map((one) => one.toFixed(1));
  return [
    '# From a clone to the first event',
    '',
    'Written by `node props/journeys/first-hour.ts`: a fresh clone, an empty cache of packages, everything else as the',
    'README says. The goal is 90 s on a machine that does nothing else. `cpu` is processor time of the start and all below',
    'it, which a busy machine changes little; the wall clock says what somebody waited.',
    '',
    `${new Date().toISOString().slice(0, 10)}, ${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), Node ${process.version},`,
    `load average at the end ${load.join(', ')} (one, five, fifteen minutes).`,
    '',
    markdownTable([
      ['part', 'wall, s', 'cpu, s'],
      ...[...parts, { name: 'all', wallMs, cpuMs }].map((one) => [
        one.name,
        seconds(one.wallMs),
        seconds(one.cpuMs),
      ]),
    ]),
  ].join('\n');
}

try {
  const first = await start();
  for (const line of LINES) await run(line);
  first.child.stdin?.write('\u0003');
  const code = await first.exited;
  keep('# Ctrl-C in the first terminal', seenOf(first).split('\n').slice(-4).join('\n'), code);
  mkdirSync(KEPT, { recursive: true });
  writeFileSync(join(KEPT, 'transcript.txt'), `${transcript.join('\n')}`);
  if (!isInstalled) writeFileSync(join(KEPT, 'timing.md'), timing());
  process.stdout.write(timing());
} finally {
  for (const { child, exited } of begun) {
    if (child.exitCode !== null || child.pid === undefined) continue;
    process.kill(-child.pid, 'SIGTERM');
    await exited;
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
