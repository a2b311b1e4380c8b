// The loop that seals the audit log: rounds over the chain's port, checkpoints signed with the Console's audit key and
// logged, so that who cuts off the end of the log has to change the log files too. decision: D35, D60; invariant: I17
import {
  isCheckpointDue,
  isCutOff,
  isFull,
  type SealRound,
} from '../../machines/console/audit/audit-sealer.rules.ts';
import {
  AUDIT_SEAL_BATCH_ROWS,
  AUDIT_SEAL_INTERVAL_MS,
  AUDIT_SEAL_TIMEOUT_MS,
} from '../../machines/limits.ts';
import type {
  AuditChain,
  AuditCheckpoint,
  ChainHead,
} from '../../storage/ports/audit/audit-chain.ts';
import type { DesignatedLoop } from '../loops/loop.ts';
import type { Logger } from '../runtime/logger.ts';
import { checkpointBytes, hashOfRow } from './audit-hash.ts';

/** Signs with a key that never leaves its file. */
export type CheckpointSigner = {
  readonly publicKeyPem: string;
  sign(bytes: Uint8Array): Uint8Array;
};

/** Makes the loop: each run seals one batch, and signs the head when a checkpoint is due. */
export function auditSealerLoop(deps: {
  readonly chain: Pick<AuditChain, 'seal' | 'checkpoint'>;
  readonly signer: CheckpointSigner;
  readonly now: () => number;
  readonly logger: Logger;
}): DesignatedLoop {
  const { chain, signer, logger } = deps;
  let wasCutOff = false;

  async function sealRows(epoch: number): Promise<SealRound> {
    const done = await chain.seal({ limit: AUDIT_SEAL_BATCH_ROWS, hashOf: hashOfRow, epoch });
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

  async function signHead(epoch: number): Promise<void> {
    const signed = await chain.checkpoint((head) => sign(signer, head, deps.now()), epoch);
    if (signed === null) return;
    const { sequence, hash, atMs, signature } = signed;
    logger.info({ sequence, hash, atMs, signature }, 'audit checkpoint');
  }

  return {
    name: 'audit-sealer',
    runsOn: 'designated',
    everyMs: AUDIT_SEAL_INTERVAL_MS,
    timeoutMs: AUDIT_SEAL_TIMEOUT_MS,
    async run({ signal, epoch }) {
      const round = await sealRows(epoch);
      signal.throwIfAborted();
      if (isCheckpointDue(round)) await signHead(epoch);
      return { hasMore: isFull(round) };
    },
  };
}

function sign(signer: CheckpointSigner, head: ChainHead, atMs: number): AuditCheckpoint {
  const { publicKeyPem } = signer;
  const signature = Buffer.from(signer.sign(checkpointBytes({ ...head, atMs }))).toString('base64');
  return { ...head, atMs, publicKeyPem, signature };
}
