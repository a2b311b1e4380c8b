// The sealer over the reference log: it seals, signs and logs, survives any call that fails, and stops.
import { generateKeyPairSync, sign } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { waitFor } from 'xstate';
import { verifyTrail } from '../../gateway/cli/audit/audit-verify.ts';
import { AUDIT_SEAL_BATCH_ROWS } from '../../machines/limits.ts';
import { createMemoryAudit } from '../../storage/memory/audit/audit-log.ts';
import { createMemoryDesignation } from '../../storage/memory/runtime/designation.ts';
import type { AuditChain } from '../../storage/ports/audit/audit-chain.ts';
import { createLoopRegistry, type LoopRegistry } from '../loops/loop-registry.ts';
import { silentLogger } from '../runtime/silent-logger.ts';
import { createWheelClock } from '../runtime/wheel-clock.ts';
import { auditSealerLoop } from './audit-sealer.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const signer = {
  publicKeyPem: String(publicKey.export({ format: 'pem', type: 'spki' })),
  sign: (bytes: Uint8Array) => sign(null, bytes, privateKey),
};
const clock = createWheelClock();
const started: LoopRegistry[] = [];
afterEach(async () => {
  for (const one of started.splice(0)) await one.stop();
});

/** The loop in the registry of a Console that alone stands for designation. */
function begin(chain: Pick<AuditChain, 'seal' | 'checkpoint'>) {
  const logged: { fields: object; text: string }[] = [];
  const note = (fields: unknown, text?: string) =>
    void logged.push({ fields: Object(fields), text: text ?? '' });
  const logger = { ...silentLogger, info: note, warn: note, error: note };
  const { designation: port } = createMemoryDesignation();
  const loops = createLoopRegistry({
    ...{ clock, now: () => 1_000, monotonicNow: () => 1_000, logger: silentLogger },
    designation: { port, holder: 'console' },
  });
  loops.add(auditSealerLoop({ chain, signer, now: () => 1_000, logger }));
  loops.start();
  started.push(loops);
  return { loops, logged };
}
/** Resolves after the first run that ended with nothing left to do at once, well or badly. */
async function rested({ loops }: ReturnType<typeof begin>) {
  const actor = loops.actorOf('audit-sealer');
  if (actor === null) throw new Error('the loop is not there');
  await waitFor(actor, ({ value, context }) => value === 'waiting' && context.nextInMs > 0);
  return actor.getSnapshot().context;
}
function filled(rows: number) {
  const log = createMemoryAudit();
  for (let at = 0; at < rows; at += 1) {
    log.record({
      atMs: at,
      actor: 'a',
      action: 'loop.run',
      target: '',
      result: 'ok',
      detail: { at },
    });
  }
  return log;
}
async function verdictOf({ audit, chain }: ReturnType<typeof filled>) {
  const rows = await audit.search({ order: 'chain', after: null, limit: 1e6 });
  const checkpoints = await chain.checkpoints({ after: 0, limit: 1e6 });
  const trail = { rows, checkpoints, unreadable: [] };
  return verifyTrail(trail, { keyPems: [signer.publicKeyPem], logged: [] });
}

describe('the audit sealer', () => {
  it('should seal a backlog batch by batch, and log what it signs', async () => {
    const log = filled(2 * AUDIT_SEAL_BATCH_ROWS + 5);

    const { logged, ...sealer } = begin(log.chain);
    await rested({ logged, ...sealer });

    expect(await verdictOf(log)).toMatchObject({
      ...{ isIntact: true, openTail: 0, signedRows: 2 * AUDIT_SEAL_BATCH_ROWS },
    });
    const checkpoints = await log.chain.checkpoints({ after: 0, limit: 9 });
    const told = logged.filter(({ text }) => text === 'audit checkpoint');
    expect(told.map(({ fields }) => fields)).toEqual(
      checkpoints.map(({ publicKeyPem: _, ...fields }) => fields),
    );
    expect(told).toHaveLength(2);
  });

  it('should leave a chain that verifies, killed before or after any call', async () => {
    for (let calls = 0; calls < 8; calls += 1) {
      for (const when of ['before', 'after']) {
        const log = filled(2 * AUDIT_SEAL_BATCH_ROWS + 5);
        let left = calls;
        // What was asked for may have happened: who was killed after a call never hears of it.
        const dying =
          <Args extends unknown[], Answer>(run: (...args: Args) => Promise<Answer>) =>
          async (...args: Args): Promise<Answer> => {
            left -= 1;
            if (left < 0 && (when === 'before' || left < -1)) throw new Error('killed');
            const answer = await run(...args);
            if (left < 0) throw new Error('killed');
            return answer;
          };
        const first = begin({
          seal: dying(log.chain.seal),
          checkpoint: dying(log.chain.checkpoint),
        });
        await rested(first);
        await first.loops.stop();
        expect((await verdictOf(log)).isIntact).toBe(true);

        const second = begin(log.chain);
        await rested(second);
        expect(await verdictOf(log)).toMatchObject({ isIntact: true, openTail: 0 });
        await second.loops.stop();
      }
    }
  });

  it('should say once that signed rows are gone, and wait while another Console seals', async () => {
    const head = { sequence: 1, hash: '' };
    const checkpoint = { sequence: 2, atMs: 0 };
    const cut = begin({
      seal: async () => ({ isBusy: false, sealed: 0, head, checkpoint }),
      checkpoint: async () => null,
    });
    const busy = begin({ seal: async () => ({ isBusy: true }), checkpoint: async () => null });
    await rested(cut);
    await rested(busy);
    expect(cut.logged).toMatchObject([{ text: 'sealed audit rows are gone: verify the trail' }]);
    expect(busy.logged).toEqual([]);
  });

  it('should wait at its stop for what is on its way, and sign nothing after it', async () => {
    let release = () => {};
    let begun = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const log = filled(3);
    const { loops } = begin({
      seal: async (request) => {
        begun();
        await held;
        return log.chain.seal(request);
      },
      checkpoint: log.chain.checkpoint,
    });
    await isBegun;
    const stopped = loops.stop();
    expect(loops.get('audit-sealer')?.state).toBe('stopped');
    release();
    await stopped;
    expect(await verdictOf(log)).toMatchObject({ isIntact: true, openTail: 0, signedRows: 0 });
  });
});
