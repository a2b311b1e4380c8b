// The promises of the audit chain: one place for every row, whoever asks; nothing half done; a chain that verifies with
// an open tail at every moment. Suites share one database, so the chain may have begun before. invariant: I17
import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { checkpointBytes, hashOfRow } from '../../actors/audit/audit-hash.ts';
import { verifyTrail } from '../../gateway/cli/audit/audit-verify.ts';
import type {
  AuditChain,
  AuditCheckpoint,
  ChainHead,
} from '../../storage/ports/audit/audit-chain.ts';
import type { AuditEntry, AuditLog, AuditRow } from '../../storage/ports/audit/audit-log.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { HOSTILE, hex, NOW_MS } from './samples.ts';

const PAGE = 200;
const WRITERS = 8;
type Ports = { readonly audit: AuditLog; readonly auditChain: AuditChain };

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const publicKeyPem = String(publicKey.export({ format: 'pem', type: 'spki' }));

function signed(head: ChainHead): AuditCheckpoint {
  const one = { ...head, atMs: NOW_MS };
  const signature = sign(null, checkpointBytes(one), privateKey).toString('base64');
  return { ...one, publicKeyPem, signature };
}

export function auditChainContract(harness: Harness<Ports>): void {
  const { port } = harness;
  const entry = (): AuditEntry => ({
    ...{ atMs: NOW_MS, actor: 'test', action: 'loop.run', target: hex(8), result: 'ok' },
    ...{ detail: { text: HOSTILE, odd: [1e21, -0, 0.1, '\ud800', { ['__proto__']: 1 }] } },
    ...{ from: '::1', before: { a: null }, after: { a: HOSTILE } },
  });
  const seal = (limit = PAGE) => port().auditChain.seal({ limit, hashOf: hashOfRow });

  async function sealAll(): Promise<number> {
    for (let all = 0; ; ) {
      const done = await seal();
      if (done.isBusy) continue;
      all += done.sealed;
      if (done.sealed < PAGE) return all;
    }
  }
  async function readAll() {
    const rows: AuditRow[] = [];
    const checkpoints: AuditCheckpoint[] = [];
    for (;;) {
      const after = checkpoints.at(-1)?.sequence ?? 0;
      const page = await port().auditChain.checkpoints({ after, limit: 2 });
      checkpoints.push(...page);
      if (page.length < 2) break;
    }
    for (;;) {
      const after = rows.at(-1) ?? null;
      const page = await port().audit.search({ order: 'chain', after, limit: PAGE });
      rows.push(...page);
      if (page.length < PAGE) return { rows, checkpoints, unreadable: [] };
    }
  }
  const verify = async () => verifyTrail(await readAll(), { keyPems: [publicKeyPem], logged: [] });

  describe('audit chain', () => {
    it('should give every row its place in id order, and leave later ones open', async () => {
      await sealAll();
      await port().audit.append([entry(), entry(), entry()]);
      expect(await seal(2)).toMatchObject({ isBusy: false, sealed: 2 });
      expect(await verify()).toMatchObject({ isIntact: true, openTail: 1 });
      expect(await seal(2)).toMatchObject({ isBusy: false, sealed: 1 });
      expect(await seal(2)).toMatchObject({ isBusy: false, sealed: 0 });
      const [third, second, first] = await port().audit.recent(3);
      const places = [first, second, third].map((row) => row?.sequence ?? 0);
      const [start = 0] = places;
      expect(places).toEqual([start, start + 1, start + 2]);
      expect(await verify()).toMatchObject({ isIntact: true, openTail: 0 });
    });

    it('should seal every row once while many write and many seal', async () => {
      await sealAll();
      const before = (await verify()).sealedRows;
      await Promise.all(
        Array.from({ length: WRITERS }, async () => {
          for (let round = 0; round < 3; round += 1) {
            await port().audit.append([entry(), entry()]);
            await seal(3);
          }
        }),
      );
      await sealAll();
      const verdict = await verify();
      expect(verdict).toMatchObject({ isIntact: true, openTail: 0, faults: [] });
      expect(verdict.sealedRows - before).toBe(WRITERS * 3 * 2);
    });

    it('should sign a head once, and only a new one', async () => {
      await port().audit.append([entry()]);
      await sealAll();
      const first = await port().auditChain.checkpoint(signed);
      expect(await port().auditChain.checkpoint(signed)).toBe(null);
      await port().audit.append([entry()]);
      expect(await port().auditChain.checkpoint(signed)).toBe(null);
      const done = await seal();
      expect(done).toMatchObject({ checkpoint: { sequence: first?.sequence, atMs: NOW_MS } });
      const second = await port().auditChain.checkpoint(signed);
      expect(second?.sequence).toBe((first?.sequence ?? 0) + 1);
      const verdict = await verify();
      expect(verdict).toMatchObject({ isIntact: true, signedRows: second?.sequence });
    });

    it('should leave nothing behind when a round breaks half way', async () => {
      await sealAll();
      await port().audit.append([entry(), entry(), entry()]);
      let asked = 0;
      const hashOf: typeof hashOfRow = (row, place) => {
        asked += 1;
        if (asked === 2) throw new Error('broken');
        return hashOfRow(row, place);
      };
      await expect(port().auditChain.seal({ limit: PAGE, hashOf })).rejects.toThrow('broken');
      const noSignature = () => {
        throw new Error('no key');
      };
      expect(await verify()).toMatchObject({ isIntact: true, openTail: 3 });
      expect(await sealAll()).toBe(3);
      await expect(port().auditChain.checkpoint(noSignature)).rejects.toThrow('no key');
      expect(await verify()).toMatchObject({ isIntact: true, openTail: 0 });
    });

    it('should go on after the database was away', async () => {
      await port().audit.append([entry()]);
      await expectAwayAndBack(harness, [
        () => port().auditChain.checkpoints({ after: 0, limit: 1 }),
        () => seal(),
      ]);
      await sealAll();
      expect(await verify()).toMatchObject({ isIntact: true, openTail: 0 });
    });
  });
}
