// One node's policies with the real keeper, actor and disk, a Console that is a table of answers, and an engine that reads
// the file it is given and says so. What is in force is what that engine read last.
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from 'xstate';
import { policyKeyOf } from '../../actors/runtime/policy-keys.ts';
import { signPack, signPolicy } from '../../actors/runtime/policy-pack.ts';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createWheelClock, type WheelClock } from '../../actors/runtime/wheel-clock.ts';
import { DEFAULT_INTERVALS } from '../../machines/intervals.ts';
import { manifestBytes, manifestOf } from '../../machines/policy/manifest.rules.ts';
import { rotationMessage } from '../../machines/policy/signing-keys.rules.ts';
import { packStandingOf } from '../../machines/sensor/policy.machine.ts';
import type { AssignedPack } from '../../machines/sensor/policy.rules.ts';
import type {
  KeyRotation,
  PackHead,
  PolicyAnswer,
  SignedPack,
} from '../../machines/wire/policy.ts';
import { emptyFacts } from '../../sensor/actors/facts.ts';
import { openNodeKeys } from '../../sensor/capabilities/policy/node-keys.ts';
import { type PolicyKeeper, startPolicies } from '../../sensor/capabilities/policy/policies.ts';
import { startPolicyActor } from '../../sensor/capabilities/policy/policy.actor.ts';
import { policyReportOf } from '../../sensor/capabilities/policy/policy-report.ts';
import type { EngineRun } from '../../sensor/engine/engine-run.ts';
import { layOutHeld, readHeld } from '../../sensor/engine/policy/held-policies.ts';
import { policiesInForce } from '../../sensor/engine/policy/verified-set.ts';
import type { Files } from '../../sensor/state-directory/file-port.ts';

export const PACK_ID = '11111111-0000-4000-8000-000000000000';
const ASSIGNMENT = 'aaaaaaaa-0000-4000-8000-000000000000';

export type Signer = { readonly privateKey: KeyObject; readonly pem: string; readonly id: string };

/** A key for policies. */
export function newSigner(): Signer {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  return { privateKey, pem, id: policyKeyOf(pem)?.id ?? '' };
}

/** A policy that any engine of ours takes. */
export function yamlOf(name: string, path = '/etc/shadow'): string {
  return `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata: {name: ${name}}
spec:
  kprobes:
    - call: sys_openat
      syscall: true
      args: [{index: 1, type: string}]
      selectors: [{matchArgs: [{index: 1, operator: Equal, values: [${path}]}]}]
`;
}

/** A signed pack of these policies, by their names and paths. */
export function packOf(
  signer: Signer,
  version: number,
  policies: Readonly<Record<string, string>>,
  more: Partial<PackHead> = {},
): SignedPack {
  const head: PackHead = {
    ...{ pack_id: PACK_ID, version, name: 'a pack', flavor: 'standard', mode: 'enforce' },
    ...{ modes_allowed: ['enforce', 'monitor'], namespace_scope: null, rollback_to: [] },
    ...more,
  };
  const texts = Object.entries(policies).map(([name, path]) => ({
    name,
    yaml: yamlOf(name, path),
  }));
  return signPack(head, texts, (message) => sign(null, message, signer.privateKey));
}

/** What a Console says of a pack. */
export function assignmentOf(pack: SignedPack, more: Partial<AssignedPack> = {}): AssignedPack {
  const digests = pack.policies.map(({ yaml }) => createHash('sha256').update(yaml).digest('hex'));
  return {
    assignment_id: ASSIGNMENT,
    pack_id: pack.pack_id,
    version: pack.version,
    manifest_sha256: createHash('sha256')
      .update(manifestBytes(manifestOf(pack, digests)))
      .digest('hex'),
    mode: pack.mode,
    namespace_scope: null,
    path: `/sensors/policies/${pack.pack_id}/${pack.version}`,
    ...more,
  };
}

/** A sensor's own policies, and what a Console says of them. */
export function customOf(
  signer: Signer,
  revision: number,
  policies: Readonly<Record<string, string>>,
) {
  const signed = Object.entries(policies).map(([name, path]) =>
    signPolicy({ name, yaml: yamlOf(name, path) }, (message) =>
      sign(null, message, signer.privateKey),
    ),
  );
  const named = signed.map(({ name, yaml }) => ({
    name,
    sha256: createHash('sha256').update(yaml).digest('hex'),
  }));
  const path = `/sensors/policies/custom/${revision}`;
  return { body: { revision, policies: signed }, told: { revision, path, policies: named } };
}

/** A statement by one key about the next. */
export function rotationOf(
  by: Signer,
  next: Signer,
  sequence: number,
  retired: readonly string[] = [],
): KeyRotation {
  const statement = {
    ...{ sequence, new_key_pem: next.pem, retired_key_ids: [...retired], by_key_id: by.id },
  };
  const signature = sign(null, rotationMessage(statement), by.privateKey).toString('base64');
  return { ...statement, signature };
}

export type TestNode = Awaited<ReturnType<typeof startTestNode>>;

/** Starts one life of a node. `bodies` are what the Console answers by path; absent: 404. */
export async function startTestNode(options: {
  readonly stateDir: string;
  readonly files: Files;
  readonly bodies: Map<string, unknown>;
  /** What the engine says against a policy. */
  readonly refuses?: (name: string) => string;
  readonly tries?: boolean;
  readonly kind?: 'ebpf' | 'procfs';
  /** A real engine in the place of that one. */
  readonly launch?: (keeper: PolicyKeeper) => Promise<EngineRun>;
  /** Time and the engine's way to the disk, where both are simulated. */
  readonly clock?: WheelClock;
  readonly readEngineFile?: () => string;
  /** Hears of each set that the engine has in force from now on: `name mode digest` of each policy. */
  readonly onSet?: (set: readonly string[]) => void;
}) {
  const { stateDir, files, bodies, refuses = () => '' } = options;
  const clock = options.clock ?? createWheelClock();
  const facts = emptyFacts();
  const config = {
    ...{ stateDir, strictPolicies: false },
    intervals: { ...DEFAULT_INTERVALS, POLICY_SCAN_INTERVAL_MS: 3_600_000 },
  };
  const parts = {
    ...{ config, logger: silentLogger, clock, facts, seed: 1, now: Date.now },
    client: {
      async get(path: string) {
        const json = bodies.get(path);
        if (json !== undefined) return { ok: true, status: 200, json };
        return {
          ok: false,
          kind: 'refused',
          status: 404,
          code: 'not_found',
          detail: '',
          retryAfterMs: null,
        };
      },
    },
    ports: { files },
    onCrash: (kind: string, error: unknown) => {
      throw new Error(`${kind}: ${String(error)}`);
    },
  };
  const keys = await openNodeKeys(files, stateDir, silentLogger);
  const found = await readHeld(files, stateDir, keys.keys());
  await layOutHeld(files, stateDir, found);
  let sets = 0;
  /** Every set the engine ever had in force, in this life. */
  const history: string[][] = [];
  const readFile = () => {
    const text =
      options.readEngineFile?.() ?? readFileSync(join(stateDir, 'run', 'policies'), 'utf8');
    const revision = Number(/^policies 1 (\d+)/.exec(text)?.[1]);
    return { revision, policies: [...text.matchAll(/^policy (\S+) (\S+) (\S+)$/gm)] };
  };
  const keeper = await startPolicies(
    parts as never,
    () => undefined,
    policiesInForce(found.held, found.sets),
  );
  const wordsOf = (policies: readonly RegExpMatchArray[], revision: number) => [
    ...policies.map(([, name = '', mode, digest]) => {
      const reason = refuses(name);
      const good = mode === 'enforce' ? 'enforcing' : 'monitoring';
      return { policy: name, state: reason === '' ? good : 'failed', digest, reason };
    }),
    { policies: policies.length, revision, reason: '' },
  ];
  function read(): void {
    sets += 1;
    const { revision, policies } = readFile();
    const set = policies.map(([, name, mode, digest]) => `${name} ${mode} ${digest}`);
    history.push(set);
    options.onSet?.(set);
    for (const word of wordsOf(policies, revision)) keeper.hear(word);
  }
  const { promise: gone, resolve: end } = Promise.withResolvers<string>();
  const isReal = options.launch !== undefined;
  if (options.launch !== undefined) keeper.useEngine(await options.launch(keeper));
  const isEbpf = options.kind !== 'procfs';
  if (!isReal)
    keeper.useEngine({
      gone,
      ...(isEbpf ? { readPolicies: () => queueMicrotask(read) } : {}),
      ...(isEbpf && options.tries === true
        ? {
            tryPolicies: async (text: string) =>
              wordsOf([...text.matchAll(/^policy (\S+) (\S+) (\S+)$/gm)], 1).map((one) =>
                JSON.stringify(one),
              ),
          }
        : {}),
    });
  if (!isEbpf) keeper.hear({ engine: 'procfs' });
  else if (!isReal && (await files.stat(join(stateDir, 'run', 'policies')))) read();
  const { actor, stage } = startPolicyActor(parts as never, found, keys, () => keeper);
  const isSettled = () =>
    waitFor(actor, (snapshot) => snapshot.hasTag('settled'), { timeout: 60_000 });
  await isSettled();
  return {
    ...{ actor, keeper, facts, keys, history, stage, found },
    /** How often the engine read its file. */
    reads: () => sets,
    /** Gives the parts of an answer and waits until nothing is to be done. */
    async tell(answer: PolicyAnswer) {
      actor.send({ type: 'wish.received', answer });
      await isSettled();
      return packStandingOf(actor.getSnapshot());
    },
    report: () => policyReportOf(actor.getSnapshot(), facts.policies, keys.sha256()),
    /** Names of what is in force, with mode. */
    inForce: () => (history.at(-1) ?? []).map((one) => one.split(' ').slice(0, 2).join(' ')),
    async stop() {
      actor.stop();
      end('stopped');
      await keeper.stop();
      clock.stop();
    },
  };
}
