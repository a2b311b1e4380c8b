// The keeper of policies with the real disk and the real engine: from a file in the folder to the kernel and back to what
// the heartbeat says.
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { DEFAULT_INTERVALS } from '../../../machines/intervals.ts';
import { policyMessage } from '../../../machines/trust/policy-signature.rules.ts';
import { parseJson } from '../../../machines/wire/parse.ts';
import { emptyFacts } from '../../actors/facts.ts';
import { createEngineLauncher, type EngineRun } from '../../engine/engine-launcher.ts';
import { whyNotHere } from '../../engine/native/engine-rig.ts';
import { diskFiles } from '../../state-directory/file-port.ts';
import { isObject } from '../../transport/answer.ts';
import { type PolicyKeeper, startPolicies } from './policies.ts';

const scratch = mkdtempSync(path.join(tmpdir(), 'keeper-probe-'));
const refused = whyNotHere(scratch);
rmSync(scratch, { recursive: true });
if (refused !== undefined) process.stdout.write(`policies of a node: skipped: ${refused}\n`);

const DEADLINE_MS = 120_000;
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
let state = '';
let watched = '';
let facts = emptyFacts();
let changes = 0;
let keeper: PolicyKeeper | null = null;
let engine: EngineRun | null = null;

beforeEach(() => {
  state = mkdtempSync(path.join(tmpdir(), 'keeper-'));
  mkdirSync(path.join(state, 'compiled-policies'), { mode: 0o700 });
  mkdirSync(path.join(state, 'engine', 'export'), { recursive: true });
  watched = path.join(state, 'secret');
  facts = emptyFacts();
  changes = 0;
});
afterEach(async () => {
  await keeper?.stop();
  engine?.endInput();
  await engine?.gone;
  rmSync(state, { recursive: true, force: true });
});

const put = (name: string, text: string) =>
  writeFileSync(path.join(state, 'compiled-policies', name), text, { mode: 0o600 });
const policy = (action: string) => `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata: {name: keep-out}
spec:
  kprobes:
    - call: sys_write
      args: [{index: 0, type: fd}]
      selectors:
        - matchArgs: [{index: 0, operator: Equal, values: [${watched}]}]
          matchActions: [{action: ${action}}]
`;
function putSigned(text: string): void {
  const message = policyMessage('keep-out', Buffer.from(text));
  put('keep-out.yaml.sig', sign(null, message, privateKey).toString('base64'));
  put('keep-out.yaml', text);
}

async function start(): Promise<void> {
  const parts = {
    config: { stateDir: state, intervals: { ...DEFAULT_INTERVALS, POLICY_SCAN_INTERVAL_MS: 50 } },
    logger: silentLogger,
    clock: createWheelClock(),
    facts,
    ports: { files: diskFiles },
  };
  const own = await startPolicies(parts as never, () => {
    changes += 1;
  });
  keeper = own;
  const launcher = createEngineLauncher(state, 'ebpf');
  await launcher.unpack();
  engine = launcher.launch({
    exportFile: path.join(state, 'engine', 'export', 'events.log'),
    nodeName: 'n1',
    policyFile: own.file,
    onLine: (line) => {
      const word = parseJson(line);
      if (word.ok && isObject(word.value)) own.hear(word.value);
    },
    onErrorLine: () => undefined,
  });
  own.useEngine(engine);
}

/** Until the only policy stands so, with a reason of this kind. */
async function until(wanted: string, reason = /^$/): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const [one] = facts.policies;
    const isIt =
      one === undefined ? wanted === '' : one.state === wanted && reason.test(one.reason);
    if (isIt) break;
    if (Date.now() > deadline)
      throw new Error(`never ${wanted}: ${JSON.stringify(facts.policies)}`);
    await wait(10);
  }
  const states = facts.policies.map(({ name, state: said }) => ({ name, state: said }));
  expect(facts.engine.loaded_policies).toMatchObject(states);
  expect(keeper?.loaded()).toMatchObject(states);
}

const attack = () =>
  spawnSync('perl', ['-e', 'open F, ">>", $ARGV[0]; syswrite F, "1"; syswrite F, "2"', watched]);

describe.skipIf(refused !== undefined)('the policies of a node', () => {
  it('should go from the folder to the kernel, and a refused version changes nothing there', async () => {
    const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    writeFileSync(path.join(state, 'policy-signing.pub'), pem, { mode: 0o600 });
    putSigned(policy('Sigkill'));
    await start();
    await until('enforcing');
    expect(attack().signal).toBe('SIGKILL');

    // Another content under the same signature.
    put('keep-out.yaml', policy('Post'));
    await until('enforcing', /signature is not by.*the version before stays in force/);
    expect(attack().signal).toBe('SIGKILL');

    putSigned(policy('Override'));
    await until('enforcing', /matchActions\[0\]\.action.*stays in force/);
    expect(attack().signal).toBe('SIGKILL');

    putSigned(policy('Post'));
    await until('enforcing');
    expect(attack().status).toBe(0);
    rmSync(path.join(state, 'compiled-policies', 'keep-out.yaml'));
    await until('');
    expect(changes).toBeGreaterThan(3);
  });

  it('should say of a policy that was never good that it is rejected, and of none without an engine that it acts', async () => {
    put('keep-out.yaml', policy('FollowFD'));
    await start();
    await until('rejected', /the ebpf engine cannot honour it/);
    put('keep-out.yaml', policy('Sigkill'));
    await until('enforcing');
    engine?.kill();
    await until('applying');
  });
});
