// The effects of the policies that the Console wants here: download, verify, try, have in force, keep. decision: D78, D79
import { fromPromise } from 'xstate';
import { whyNotVersion } from '../../../machines/policy/manifest.rules.ts';
import {
  type KeysResult,
  type PolicyActorRef,
  policyMachine,
  type StepResult,
} from '../../../machines/sensor/policy.machine.ts';
import {
  canRemember,
  type Fetched,
  type Held,
  type PolicyJob,
  type Refusal,
} from '../../../machines/sensor/policy.rules.ts';
import {
  POLICY_RETRY_MAX_MS,
  POLICY_RETRY_MIN_MS,
} from '../../../machines/sensor/policy-limits.ts';
import { type Parts, startActor } from '../../actors/parts.ts';
import { commitHeld, layOutHeld } from '../../engine/policy/held-policies.ts';
import { judgePolicy } from '../../engine/policy/judge-policies.ts';
import type { FoundPolicy } from '../../engine/policy/policy-files.ts';
import {
  type HeldSets,
  policiesInForce,
  type SetVerdict,
  type VerifiedSet,
  verifyAssignedPack,
  verifyCustom,
} from '../../engine/policy/verified-set.ts';
import { errorCode } from '../../state-directory/file-port.ts';
import { sentenceOf } from '../../transport/answer.ts';
import type { NodeKeys } from './node-keys.ts';
import type { PolicyKeeper } from './policies.ts';

type ActorParts = Pick<Parts, 'clock' | 'config' | 'logger' | 'now' | 'onCrash' | 'seed'> & {
  readonly client: Pick<Parts['client'], 'get'>;
  readonly ports: Pick<Parts['ports'], 'files' | 'engine'>;
} & Partial<Pick<Parts, 'machines'>>;
export type PolicyStage = {
  readonly held: Held;
  readonly sets: HeldSets;
};
export type PolicyEffects = {
  readonly actor: PolicyActorRef;
  /** What is held, with its texts. */
  stage(): PolicyStage;
};
type Step = { readonly job: PolicyJob; readonly held: Held };

const DOWNLOAD_TIMEOUT_MS = 30_000;
const CUSTOM_PATH = '/sensors/policies/custom/';
const PACK_PATH = '/sensors/policies/';

/** Starts from what was read of the disk. `keeper` answers null while no events are collected. */
export function startPolicyActor(
  parts: ActorParts,
  begun: PolicyStage,
  keys: NodeKeys,
  keeper: () => PolicyKeeper | null,
): PolicyEffects {
  const { logger } = parts;
  const refuse: Refuse = (job, refusal) => {
    const { code, reason } = refusal;
    const said = { step: job.kind, code, reason };
    logger.warn(said, 'policies of the Console are refused; what is in force stays');
    return { ok: false, refusal: { ...refusal, reason: reason.slice(0, REASON_MAX_CHARS) } };
  };
  const fetching = createFetching(parts, keys, refuse);
  const applying = createApplying(parts, begun, { keeper, setOf: fetching.setOf, refuse });

  async function takeKeys({ job }: Step): Promise<KeysResult> {
    const { taken, refusal } = await keys.take(job.kind === 'keys' ? job.rotations : []);
    if (taken > 0) {
      logger.info({ taken, keys: keys.sha256() }, 'other keys sign policies from now on');
    }
    if (refusal === null) return { isChanged: taken > 0, refusal: null };
    logger.warn({ refusal }, 'a statement about keys is refused; what this node trusts stays');
    return { isChanged: taken > 0, refusal: rejected(refusal, 'a statement about keys') };
  }

  const actor = startActor(
    parts,
    policyMachine.provide({
      actors: {
        readHeld: fromPromise<Held, undefined>(async () => begun.held),
        takeKeys: fromPromise<KeysResult, Step>(({ input }) => takeKeys(input)),
        fetchSet: fromPromise<StepResult<Fetched>, Step>(({ input }) => fetching.fetch(input)),
        applySet: fromPromise<StepResult<null>, Application>(({ input }) => applying.apply(input)),
      },
    }),
    { seed: parts.seed, minMs: POLICY_RETRY_MIN_MS, maxMs: POLICY_RETRY_MAX_MS },
  );
  return { actor, stage: applying.stage };
}

type Application = Step & { readonly next: Held };
type Refuse = (job: PolicyJob, refusal: Refusal) => StepResult<never>;

/** Downloads and verifies; what was verified last stays at hand until it is applied. */
function createFetching({ client }: ActorParts, keys: NodeKeys, refuse: Refuse) {
  let fetched: { readonly job: PolicyJob; readonly set: VerifiedSet } | null = null;

  async function download(path: string): Promise<unknown> {
    const answer = await client.get(path, DOWNLOAD_TIMEOUT_MS);
    if (!answer.ok) throw new Error(sentenceOf(answer));
    return answer.json;
  }

  /** From the Console this node is enrolled with, whatever path it names. */
  async function verdictOf(job: PolicyJob): Promise<SetVerdict> {
    if (job.kind === 'custom') {
      const body = await download(`${CUSTOM_PATH}${job.custom.revision}`);
      return verifyCustom(body, job.custom, keys.keys());
    }
    if (job.kind !== 'pack') throw new Error('there is nothing to download');
    const { pack_id, version } = job.pack;
    const body = await download(`${PACK_PATH}${pack_id}/${version}`);
    return verifyAssignedPack(body, job.pack, keys.keys());
  }

  return {
    setOf: (job: PolicyJob) => (fetched?.job === job ? fetched.set : null),
    async fetch({ job, held }: Step): Promise<StepResult<Fetched>> {
      const early = whyNot(job, held);
      if (early !== null) return refuse(job, early);
      const verdict = await verdictOf(job);
      if (!verdict.ok) return refuse(job, verdict.refusal);
      const { policies, rollbackTo } = verdict.set;
      fetched = { job, set: verdict.set };
      const named = policies.map(({ name, digest }) => ({ name, sha256: digest }));
      return { ok: true, value: { policies: named, rollbackTo } };
    },
  };
}

/** Has a verified set in force, then keeps it; whatever fails leaves the one before. */
function createApplying(
  { config, logger, now, ports: { files } }: ActorParts,
  begun: PolicyStage,
  more: {
    readonly keeper: () => PolicyKeeper | null;
    readonly setOf: (job: PolicyJob) => VerifiedSet | null;
    readonly refuse: Refuse;
  },
) {
  const { keeper, setOf, refuse } = more;
  let stage = begun;

  function setsAfter(job: PolicyJob): HeldSets {
    if (job.kind === 'pack') return { ...stage.sets, pack: setOf(job) };
    if (job.kind === 'removal') return { ...stage.sets, pack: null };
    return job.kind === 'custom' ? { ...stage.sets, custom: setOf(job) } : stage.sets;
  }

  async function keep(after: PolicyStage): Promise<void> {
    const isEnforced = (after.held.pack?.mode ?? 'enforce') === 'enforce';
    const state = isEnforced ? 'enforcing' : 'monitoring';
    await commitHeld(files, config.stateDir, after, { state, nowMs: now() });
    stage = after;
    await layOutHeld(files, config.stateDir, after).catch((error: unknown) =>
      logger.warn({ code: errorCode(error) }, 'copies of the policies cannot be laid out'),
    );
  }

  return {
    stage: () => stage,
    async apply({ job, next }: Application): Promise<StepResult<null>> {
      const own = keeper();
      if (own === null) throw new Error('no events are collected now');
      const after = { held: next, sets: setsAfter(job) };
      const wanted = policiesInForce(after.held, after.sets);
      const before = policiesInForce(stage.held, stage.sets);
      const mayLack = canLack(job);
      const unfit = mayLack ? null : await whyUnfit(wanted, own);
      if (unfit !== null) return refuse(job, unfit);
      const reason = await own.replace(wanted, { mayLack });
      if (reason !== null) return refuse(job, failed('engine_cannot', reason));
      try {
        await keep(after);
      } catch (error) {
        await own.replace(before, { mayLack: true }).catch(() => null);
        throw new Error(`it cannot be kept on the disk: ${errorCode(error)}`);
      }
      const { pack_id, version } = next.pack ?? {};
      logger.info({ step: job.kind, pack: pack_id, version }, 'policies of the Console');
      return { ok: true, value: null };
    },
  };
}

/** What this engine and its kernel cannot do is found before anything in force changes. */
async function whyUnfit(
  wanted: readonly FoundPolicy[],
  keeper: PolicyKeeper,
): Promise<Refusal | null> {
  if (wanted.length === 0) return null;
  if (keeper.way() === 'none') return failed('engine_cannot', NO_POLICIES);
  if (keeper.way() === 'own') return null;
  for (const one of wanted) {
    const judged = await judgePolicy(one);
    if (judged.ok) continue;
    const reason = `${judged.name}: ${judged.reason}`;
    if (judged.code === 'engine_cannot') return failed('engine_cannot', reason);
    return rejected('policy_invalid', reason);
  }
  return null;
}

const NO_POLICIES = 'the engine that runs carries out no policies';
const REASON_MAX_CHARS = 512;

/** What is wrong with a step before anything is downloaded. */
function whyNot(job: PolicyJob, { highest }: Held): Refusal | null {
  if (job.kind !== 'pack') return null;
  const { pack } = job;
  const older = whyNotVersion(pack, highest[pack.pack_id] ?? null);
  if (older !== null)
    return rejected(older, 'the highest version that was applied does not allow it');
  if (!canRemember(highest, pack.pack_id)) {
    return rejected('too_many_packs', 'this node remembers the versions of no more packs');
  }
  // No engine here tells the namespaces of a cluster apart.
  if (pack.namespace_scope !== null) {
    return failed('engine_cannot', 'no engine of this node keeps to namespaces of a cluster');
  }
  return null;
}

/** What lacks a policy is better than what was there before. */
function canLack(job: PolicyJob): boolean {
  if (job.kind === 'pack') return job.pack.when_unsupported === 'skip';
  return job.kind !== 'custom';
}

function rejected(code: string, reason: string): Refusal {
  return { state: 'rejected', code, reason };
}

function failed(code: string, reason: string): Refusal {
  return { state: 'failed', code, reason };
}
