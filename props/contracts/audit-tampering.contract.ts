// The audit chain against somebody with the database's own rights: whatever SQL does to sealed rows is found and located.
// And its lock: while another Console seals, this one does not, and writers notice nothing. invariant: I17
import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { hashOfRow } from '../../actors/audit/audit-hash.ts';
import { verifyTrail } from '../../gateway/cli/audit/audit-verify.ts';
import type { AuditChain } from '../../storage/ports/audit/audit-chain.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import { hex, NOW_MS } from './samples.ts';

const SEALER_LOCK = 7_210_154_832;
const ALL = 100_000;
type Ports = {
  readonly pool: pg.Pool;
  readonly audit: AuditLog;
  readonly auditChain: AuditChain;
};

export function auditTamperingContract(port: () => Ports): void {
  const seal = () => port().auditChain.seal({ limit: ALL, hashOf: hashOfRow });
  const write = (count: number) =>
    port().audit.append(
      Array.from({ length: count }, () => ({
        ...{
          atMs: NOW_MS,
          actor: 'test',
          action: 'loop.run',
          target: hex(8),
          result: 'ok',
          detail: {},
        },
      })),
    );
  async function verdict() {
    const rows = await port().audit.search({ order: 'chain', after: null, limit: ALL });
    return verifyTrail({ rows, checkpoints: [], unreadable: [] }, { keyPems: [], logged: [] });
  }
  const run = (statement: string, ...values: readonly unknown[]) =>
    port().pool.query(statement, [...values]);

  /** A row and the next change places, each keeping its hash. */
  async function swap(at: number): Promise<void> {
    const move = 'UPDATE audit_records SET sequence = $2 WHERE sequence = $1';
    await run(move, at, 900_000_000);
    await run(move, at + 1, at);
    await run(move, 900_000_000, at + 1);
  }

  describe('audit chain under SQL', () => {
    it('should name the row that was changed, removed, put in, or moved', async () => {
      await write(6);
      const done = await seal();
      if (done.isBusy) throw new Error('nobody else seals');
      const at = done.head.sequence - 3;
      const found = async () => (await verdict()).faults.map((one) => [one.kind, one.sequence]);
      expect(await found()).toEqual([]);

      await run(`UPDATE audit_records SET actor = 'nobody' WHERE sequence = $1`, at);
      expect(await found()).toEqual([['changed', at]]);
      await run(`UPDATE audit_records SET actor = 'test' WHERE sequence = $1`, at);

      const away = `WITH gone AS (DELETE FROM audit_records WHERE sequence = $1 RETURNING *)
        SELECT row_to_json(gone) AS row FROM gone`;
      const { rows } = await run(away, at);
      expect(await found()).toEqual([['removed', at]]);
      const back = `INSERT INTO audit_records OVERRIDING SYSTEM VALUE
        SELECT * FROM json_populate_record(null::audit_records, $1)`;
      await run(back, JSON.stringify(rows[0].row));

      await swap(at);
      expect(await found()).toEqual([
        ['reordered', at],
        ['reordered', at + 1],
      ]);
      await swap(at);
      expect(await found()).toEqual([]);
    });

    it('should leave sealing to the one that holds the lock, and writing to everybody', async () => {
      const other = await port().pool.connect();
      try {
        await other.query('BEGIN');
        await other.query('SELECT pg_advisory_xact_lock($1)', [SEALER_LOCK]);
        await write(2);
        expect(await seal()).toEqual({ isBusy: true });
        const refused = await port().auditChain.checkpoint(() => {
          throw new Error('nothing is signed without the lock');
        });
        expect(refused).toBe(null);
        expect((await verdict()).openTail).toBeGreaterThanOrEqual(2);
      } finally {
        await other.query('ROLLBACK');
        other.release();
      }
      expect(await seal()).toMatchObject({ isBusy: false });
      expect(await verdict()).toMatchObject({ isIntact: true, openTail: 0 });
    });

    it('should refuse a place twice and a place without a hash', async () => {
      await write(1);
      await seal();
      const twice = `UPDATE audit_records SET sequence = 1
        WHERE sequence = (SELECT max(sequence) FROM audit_records)`;
      const bare = 'UPDATE audit_records SET hash = null WHERE sequence = 1';
      await expect(run(twice)).rejects.toThrow(/audit_records_chain/);
      await expect(run(bare)).rejects.toThrow(/check/);
    });
  });
}
