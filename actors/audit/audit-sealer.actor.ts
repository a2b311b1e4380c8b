// Runs the sealer of the audit log: rounds over the chain's port, checkpoints signed with the Console's audit key and
// logged, so that who cuts off the end of the log has to change the log files too. decision: D35; invariant: I17
import { createActor, fromPromise } from 'xstate';
import {
  type AuditSealerActorRef,
  auditSealerMachine,
} from '../../machines/console/audit/audit-sealer.machine.ts';
import { isCutOff, type SealRound } from '../../machines/console/audit/audit-sealer.rules.ts';
import { AUDIT_SEAL_BATCH_ROWS } from '../../machines/limits.ts';
import type {
  AuditChain,
  AuditCheckpoint,
  ChainHead,
} from '../../storage/ports/audit/audit-chain.ts';
import type { Logger } from '../runtime/logger.ts';
import type { WheelClock } from '../runtime/wheel-clock.ts';
import { checkpointBytes, hashOfRow } from './audit-hash.ts';

/** Signs with a key that never leaves its file. */
export type CheckpointSigner = {
  readonly publicKeyPem: string;
  sign(bytes: Uint8Array): Uint8Array;
};
export type AuditSealer = {
  readonly actor: AuditSealerActorRef;
  /** Asks nothing more; resolves when what is on its way has ended. */
  stop(): Promise<void>;
};

/** Starts sealing at once. */
export function startAuditSealer(deps: {
  readonly chain: Pick<AuditChain, 'seal' | 'checkpoint'>;
  readonly signer: CheckpointSigner;
  readonly clock: WheelClock;
  readonly now: () => number;
  readonly logger: Logger;
}): AuditSealer {
  const { chain, signer, logger } = deps;
  let onTheWay: Promise<unknown> = Promise.resolve();
  let wasCutOff = false;

  async function sealRows(): Promise<SealRound> {
    const done = await chain.seal({ limit: AUDIT_SEAL_BATCH_ROWS, hashOf: hashOfRow });
    if (done.isBusy) return { isBusy: true };
    const { sealed, head, checkpoint } = done;
    const headSequence = head.sequence;
    const round = { isBusy: false, atMs: deps.now(), sealed, headSequence, checkpoint } as const;
    const cutOff = isCutOff(round);
    if (cutOff && !wasCutOff) {
      logger.error({ headSequence, checkpoint }, 'sealed audit rows are gone: verify the trail');
    }
    wasCutOff = cutOff;
    return round;
  }

  async function signHead(): Promise<void> {
    const signed = await chain.checkpoint((head) => sign(signer, head, deps.now()));
    if (signed === null) return;
    const { sequence, hash, atMs, signature } = signed;
    logger.info({ sequence, hash, atMs, signature }, 'audit checkpoint');
  }

  function following<T>(run: () => Promise<T>): Promise<T> {
    const answer = run();
    onTheWay = answer.catch(() => undefined);
    return answer;
  }

  const actor = createActor(
    auditSealerMachine.provide({
      actors: {
        sealRows: fromPromise<SealRound, undefined>(() => following(sealRows)),
        signHead: fromPromise<void, undefined>(() => following(signHead)),
      },
      actions: {
        tellFailure: (_, { error }) =>
          logger.warn({ error: String(error) }, 'the audit trail could not be sealed'),
      },
    }),
    { clock: deps.clock as never },
  );
  actor.subscribe({
    error: (error) => logger.error({ error: String(error) }, 'the audit sealer failed'),
  });
  actor.start();
  return {
    actor,
    async stop() {
      if (actor.getSnapshot().status === 'active') actor.send({ type: 'sealer.stop' });
      await onTheWay;
    },
  };
}

function sign(signer: CheckpointSigner, head: ChainHead, atMs: number): AuditCheckpoint {
  const { publicKeyPem } = signer;
  const signature = Buffer.from(signer.sign(checkpointBytes({ ...head, atMs }))).toString('base64');
  return { ...head, atMs, publicKeyPem, signature };
}
