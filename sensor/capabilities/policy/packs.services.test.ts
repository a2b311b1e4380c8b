// Packs on the real engine and kernel: tried before they are in force, in force before the ones before leave, and not one
// event between the two.
import { spawn, spawnSync } from 'node:child_process';
import { sign } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { signPack } from '../../../actors/runtime/policy-pack.ts';
import { parseJson } from '../../../machines/wire/parse.ts';
import {
  assignmentOf,
  newSigner,
  PACK_ID,
  startTestNode,
  type TestNode,
} from '../../../props/crash/node-policies.fixture.ts';
import { createEngineLauncher } from '../../engine/engine-launcher.ts';
import type { EngineRun } from '../../engine/engine-run.ts';
import { skipReason } from '../../engine/native/engine-rig.ts';
import { diskFiles } from '../../state-directory/file-port.ts';
import { isObject } from '../../transport/answer.ts';
import type { PolicyKeeper } from './policies.ts';

const TIMEOUT_MS = 300_000;
const reason = skipReason('packs on the kernel');
const signer = newSigner();
let stateDir = '';
let watched = '';
let node: TestNode;
let engine: EngineRun;
let bodies = new Map<string, unknown>();

const writes = (name: string, action: string, more = '/none') => `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata: {name: ${name}}
spec:
  kprobes:
    - call: sys_write
      args: [{index: 0, type: fd}]
      selectors:
        - matchArgs: [{index: 0, operator: Equal, values: [${watched}, ${more}]}]
          matchActions: [{action: ${action}}]
`;
const noSuchHook = (name: string) => `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata: {name: ${name}}
spec:
  tracepoints: [{subsystem: nowhere, event: nothing}]
`;
function assign(version: number, texts: Readonly<Record<string, string>>) {
  const head = {
    ...{ pack_id: PACK_ID, version, name: 'p', flavor: 'standard' as const },
    ...{ mode: 'enforce' as const, modes_allowed: ['enforce' as const], namespace_scope: null },
    rollback_to: [],
  };
  const policies = Object.entries(texts).map(([name, yaml]) => ({ name, yaml }));
  const pack = signPack(head, policies, (message) => sign(null, message, signer.privateKey));
  bodies.set(assignmentOf(pack).path, pack);
  return node.tell({ pack_assignment: assignmentOf(pack) });
}
const attack = () =>
  spawnSync('perl', ['-e', 'open F, ">>", $ARGV[0]; syswrite F, "1"; syswrite F, "2"', watched]);

async function launch(keeper: PolicyKeeper): Promise<EngineRun> {
  const launcher = createEngineLauncher(stateDir, 'ebpf');
  await launcher.unpack();
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const run = launcher.launch({
    exportFile: join(stateDir, 'engine', 'export', 'events.log'),
    nodeName: 'n1',
    policyFile: keeper.file,
    onLine(line) {
      const word = parseJson(line);
      if (!word.ok || !isObject(word.value)) return;
      if (word.value['engine'] !== undefined) resolve();
      keeper.hear(word.value);
    },
    onErrorLine: () => undefined,
  });
  engine = run;
  await Promise.race([begun, run.gone.then((how) => Promise.reject(new Error(how)))]);
  return run;
}

/** The lines of the export that this policy told, whole or not yet. */
function told(policy: string): number {
  const folder = join(stateDir, 'engine', 'export');
  const text = readdirSync(folder).map((one) => readFileSync(join(folder, one), 'utf8'));
  return text
    .join('')
    .split('\n')
    .filter((line) => line.includes(`"policy_name":"${policy}"`)).length;
}

describe.skipIf(reason !== undefined)('a pack on the kernel', () => {
  beforeEach(async () => {
    stateDir = mkdtempSync(join(tmpdir(), 'packs-'));
    mkdirSync(join(stateDir, 'engine', 'export'), { recursive: true });
    watched = join(stateDir, 'secret');
    bodies = new Map();
    writeFileSync(join(stateDir, 'policy-signing.pub'), signer.pem);
    node = await startTestNode({ stateDir, files: diskFiles, bodies, launch });
  }, TIMEOUT_MS);
  afterEach(async () => {
    engine.endInput();
    await engine.gone;
    await node.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }, TIMEOUT_MS);

  it(
    'should be tried by a second engine, and what this kernel has no hook for changes nothing',
    async () => {
      expect(await assign(1, { 'keep-out': writes('keep-out', 'Sigkill') })).toEqual({
        job: null,
        state: null,
      });
      expect(node.report()).toMatchObject({ state: 'enforcing', version: 1 });
      expect(attack().signal).toBe('SIGKILL');
      const standing = await assign(2, {
        'keep-out': writes('keep-out', 'Post'),
        nowhere: noSuchHook('nowhere'),
      });
      expect(standing).toMatchObject({ state: 'failed', code: 'engine_cannot' });
      expect(standing.reason).toMatch(/^nowhere: /);
      expect(attack().signal).toBe('SIGKILL');
      expect(readdirSync(join(stateDir, 'engine'))).not.toContain('dry-load');
      await assign(3, { 'keep-out': writes('keep-out', 'Post') });
      expect(attack().status).toBe(0);
    },
    TIMEOUT_MS,
  );

  it(
    'should lose no event while one version takes the place of another, again and again',
    async () => {
      await assign(1, { watch: writes('watch', 'Post', '/one') });
      // It writes until its input ends, and then says how often.
      const program =
        '$| = 1; open F, ">>", $ARGV[0]; my ($n, $r) = (0, ""); vec($r, 0, 1) = 1;' +
        'until (select(my $x = $r, undef, undef, 0.0005)) { syswrite F, "1"; $n++ } print $n';
      const writer = spawn('perl', ['-e', program, watched], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      let said = '';
      writer.stdout.on('data', (chunk) => (said += chunk));
      while (told('watch') === 0) await wait(20);
      for (let version = 2; version <= 9; version += 1) {
        const standing = await assign(version, { watch: writes('watch', 'Post', `/v${version}`) });
        expect(standing).toEqual({ job: null, state: null });
      }
      writer.stdin.end();
      await once(writer, 'close');
      const made = Number(said);
      // What is under way is written within moments; a lost event never comes.
      for (let tries = 0; tries < 500 && told('watch') < made; tries += 1) await wait(20);
      process.stdout.write(`gap over 8 changes: ${made - told('watch')} of ${made} events\n`);
      expect(made).toBeGreaterThan(100);
      expect(told('watch')).toBe(made);
    },
    TIMEOUT_MS,
  );
});
