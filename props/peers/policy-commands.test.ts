// Every command of policies against a whole Console: a folder becomes a version, what changed is told, a version is assigned,
// rehearsed, enforced, returned and rolled out. decision: D80, D83, D90, D125
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { saveContext } from '../../gateway/cli/plumbing/context-file.ts';
import { EXIT } from '../../gateway/cli/plumbing/exit.ts';
import { runProgram } from '../../gateway/cli/plumbing/program.ts';
import {
  type ConsoleUnderTest,
  removeSharedKeys,
  startConsole,
} from '../attacks/console.fixture.ts';
import type { Identity } from '../attacks/peer.ts';
import { openStores } from '../attacks/stores.fixture.ts';
import { batch, event } from '../contracts/samples.ts';

const PATIENT = { timeout: 120_000 };
const stores = await openStores();
let console: ConsoleUnderTest;
let node: Identity;
let home: string;
let folder: string;

const policyText = (name: string, path: string) => `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata: {name: ${name}}
spec:
  kprobes:
    - call: sys_openat
      syscall: true
      args: [{index: 1, type: string}]
      selectors:
        - matchArgs: [{index: 1, operator: Equal, values: [${path}]}]
          matchActions: [{action: Sigkill}]
`;
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

async function run(...argv: readonly string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runProgram(argv, {
    env: { XDG_CONFIG_HOME: home },
    terminal: {
      out: (text) => void out.push(text),
      talk: (text) => void err.push(text),
      isInteractive: false,
      colors: pc.createColors(false),
    },
    now: () => console.time.now(),
    signal: new AbortController().signal,
    ask: async () => '',
  });
  return { code, out, text: out.join('\n'), err: err.join('\n') };
}
const told = (name: string, action: string, id: number) =>
  event({
    event_id: String(id).padStart(32, '0'),
    observed_at: new Date(console.time.now() - 60_000 * id).toISOString(),
    policy: { name, action },
  });

beforeAll(async () => {
  console = await startConsole({ stores });
  node = await console.enroll('cli-node');
  home = mkdtempSync(join(tmpdir(), 'policy-cli-'));
  folder = join(home, 'pack');
  mkdirSync(folder);
  saveContext({ XDG_CONFIG_HOME: home }, 'local', {
    url: `https://127.0.0.1:${console.port}`,
    token: (await console.newKey(['admin'])).secret,
    ca_pem: console.ca,
  });
}, 300_000);
afterAll(async () => {
  await console.stop();
  rmSync(home, { recursive: true, force: true });
  await removeSharedKeys();
});

describe('packs', PATIENT, () => {
  it('should be checked with line and column before anything is published', async () => {
    write('shadow.yaml', policyText('shadow', '/etc/shadow').replace('Equal', 'Begins'));
    const { code, text, err } = await run('packs', 'check', join(folder, 'shadow.yaml'));
    expect(code).toBe(EXIT.failed);
    expect(text).toMatch(/^shadow +NO +- +10:\d+ /m);
    expect(err).toContain('line 10, column');
    write('shadow.yaml', policyText('shadow', '/etc/shadow'));
    const good = await run('packs', 'check', join(folder, 'shadow.yaml'));
    expect(good).toMatchObject({ code: EXIT.ok });
    expect(good.text).toMatch(/^shadow +yes +ebpf,tetragon +-$/m);
    expect((await run('packs', 'list')).err + (await run('packs', 'list')).text).toContain(
      'No packs.',
    );
  });

  it('should be a folder that is applied whole, once', async () => {
    write('pack.yaml', 'name: Web\nmodes_allowed: [monitor, enforce]\n');
    expect((await run('packs', 'apply', '-f', folder, '--dry-run')).err).toContain(
      'Version 1 of Web would be published.',
    );
    expect((await run('packs', 'apply', '-f', folder)).err).toContain(
      'Version 1 of Web is published.',
    );
    expect((await run('packs', 'apply', '-f', folder)).err).toContain(
      'Web is published so already, as version 1.',
    );
    write('shadow.yaml', policyText('shadow', '/etc/gshadow'));
    const diff = await run('policies', 'diff', 'web', join(folder, 'shadow.yaml'));
    expect(diff.out.map((line) => line.trim().slice(0, 1))).toEqual(['-', '+']);
    expect(diff.text).toContain('/etc/gshadow');
    write('pack.yaml', 'name: Web\nmodes_allowed: [monitor, enforce]\nrollback_to: [1]\n');
    write('passwd.yaml', policyText('passwd', '/etc/passwd'));
    expect((await run('packs', 'apply', '-f', folder)).code).toBe(EXIT.ok);
    const { text } = await run('packs', 'diff', 'web', '1');
    expect(text).toMatch(/^added passwd$/m);
    expect(text).toMatch(/^changed shadow$/m);
    expect(text).toMatch(/^ {2}- .*\/etc\/shadow/m);
    expect((await run('packs', 'get', 'Web')).out.map((line) => line.split(/ +/)[0])).toEqual([
      'VERSION',
      '2',
      '1',
    ]);
    expect((await run('packs', 'get', 'nobody')).code).toBe(EXIT.notFound);
  });

  it('should be assigned, rehearsed and enforced, and return where that is signed', async () => {
    expect((await run('packs', 'assign', 'web', '--to', 'fleet')).err).toContain(
      'Version 2 of Web is assigned to fleet.',
    );
    const one = batch({
      sensorId: node.sensorId,
      events: [
        told('shadow', 'monitored.sigkill', 1),
        told('shadow', 'monitored.sigkill', 2),
        told('shadow', 'post', 3),
        // Eight days ago.
        told('shadow', 'monitored.sigkill', 8 * 1_440),
      ],
    });
    await stores.events.sink.append(one);
    const rehearsed = await run('packs', 'rehearsal', 'fleet');
    expect(rehearsed.text).toMatch(/^shadow +3 +sigkill 2 +1 /m);
    expect(rehearsed.text).toMatch(/^passwd +0 +- +0 +-$/m);
    expect(rehearsed.err).toContain('on 1 sensors: 3 matches, 2 would have been stopped.');
    const longer = await run('packs', 'rehearsal', 'fleet', '--since', 'now-30d', '-o', 'json');
    expect(JSON.parse(longer.text)).toMatchObject({ matched: 4, would_have_acted: 3 });
    const backwards = await run('packs', 'rehearsal', 'fleet', '--since', 'now+1h');
    expect(backwards.code).toBe(EXIT.usage);
    const dry = await run('packs', 'enforce', 'fleet', '--dry-run');
    expect(dry.err).toContain('Version 2 of Web would be enforced on fleet.');
    expect((await run('packs', 'assignments')).text).toMatch(/^fleet +Web +2 +monitor /m);
    const done = await run('packs', 'enforce', 'fleet');
    expect(done.err).toContain('2 would have been stopped.');
    expect((await run('packs', 'assignments')).text).toMatch(/^fleet +Web +2 +enforce /m);
    const entry = (await console.audited()).find(({ action }) => action === 'assignment.enforce');
    expect(entry).toMatchObject({
      target: 'fleet:fleet',
      detail: { would_have_acted_7d: 2 },
      before: { mode: 'monitor' },
      after: { mode: 'enforce' },
    });
    const again = await run('packs', 'enforce', 'fleet');
    expect([again.code, again.err]).toEqual([EXIT.refused, expect.stringContaining('monitor')]);
    expect((await run('packs', 'rollback', 'fleet', '1')).err).toContain(
      'fleet returns to version 1 of Web.',
    );
    expect((await run('packs', 'rollback', 'tag:none', '1')).code).toBe(EXIT.notFound);
    expect((await run('packs', 'assign', 'web', '--to', 'nowhere')).code).toBe(EXIT.usage);
    expect((await run('packs', 'unassign', 'fleet')).code).toBe(EXIT.ok);
    expect((await run('packs', 'rehearsal', 'fleet')).code).toBe(EXIT.notFound);
  });

  it('should not be enforced when somebody changed the assignment, or beyond what is signed', async () => {
    await run('packs', 'assign', 'web', '--to', `sensor:cli-node`);
    const headers = { authorization: `Bearer ${(await console.newKey(['admin'])).secret}` };
    const enforce = async (assignment_id: string) => {
      const path = `/api/v2/assignments/sensor/${node.sensorId}/enforce`;
      const answer = await console.ask(null, path, { assignment_id }, { headers, method: 'POST' });
      return answer.body['code'];
    };
    expect(await enforce('00000000-0000-7000-8000-000000000000')).toBe('assignment_changed');
    write('pack.yaml', 'name: Quiet\nmodes_allowed: [monitor]\n');
    await run('packs', 'apply', '-f', folder);
    await run('packs', 'assign', 'quiet', '--to', `sensor:cli-node`);
    const { code, err } = await run('packs', 'enforce', 'sensor:cli-node');
    expect([code, err]).toEqual([EXIT.refused, expect.stringContaining('mode')]);
    await run('packs', 'unassign', 'sensor:cli-node');
  });

  it('should be made, and published from a draft', async () => {
    const made = await run('packs', 'create', 'Empty');
    expect(made.out).toHaveLength(1);
    expect((await run('packs', 'publish', 'empty')).code).not.toBe(EXIT.ok);
    expect((await run('packs', 'diff', 'empty', '1')).code).toBe(EXIT.notFound);
  });
});

describe('policies', PATIENT, () => {
  it('should be signed and verified by the Console, and by a key file without it', async () => {
    const file = join(folder, 'shadow.yaml');
    expect((await run('policies', 'sign', file)).out).toEqual([`${file}.sig`]);
    expect((await run('policies', 'verify', file)).text).toContain('good');
    const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });
    const key = join(home, 'key.pem');
    writeFileSync(key, pem);
    expect((await run('policies', 'verify', file, '--key', key)).code).toBe(EXIT.failed);
    await run('policies', 'sign', file, '--key', key);
    expect((await run('policies', 'verify', file, '--key', key)).code).toBe(EXIT.ok);
    expect((await run('policies', 'verify', file)).code).toBe(EXIT.failed);
    expect(readFileSync(`${file}.sig`, 'utf8')).toMatch(/^[A-Za-z0-9+/]{86}==\n$/);
    expect((await run('policies', 'keys')).text).toContain('by this Console');
    expect((await run('policies', 'library')).text).toMatch(/^POLICY +TECHNIQUE +WHY/m);
  });
});

describe('rollouts', PATIENT, () => {
  it('should be started, listed, shown, paused, resumed and aborted', async () => {
    const start = ['rollouts', 'start', 'web', '--to', 'fleet', '--canary', '50%'];
    start.push('--waves', '');
    const started = await run(...start, '--wait', '1h', '--gate', 'stale=off');
    expect(started.err).toContain('Version 2 of Web is on its way to fleet.');
    const [id = ''] = started.out;
    expect((await run('rollouts', 'list')).text).toMatch(
      /fleet +Web +2 +running.reaching +1 of 2 \(50 %\)/,
    );
    expect((await run('rollouts', 'get', id)).text).toContain('stale 0 (not watched)');
    expect((await run('rollouts', 'pause', id)).err).toContain('The rollout is paused.');
    expect((await run('rollouts', 'resume', id)).code).toBe(EXIT.ok);
    expect((await run(...start)).code).toBe(EXIT.refused);
    expect((await run('rollouts', 'abort', id)).code).toBe(EXIT.ok);
    expect((await run('rollouts', 'get', '00000000-0000-7000-8000-000000000000')).code).toBe(
      EXIT.notFound,
    );
    expect((await run(...start, '--gate', 'luck=1')).code).toBe(EXIT.usage);
    expect((await run(...start, '--wait', 'soon')).code).toBe(EXIT.usage);
  });
});
