// The audit trail of the whole fleet is one chain. It is followed row by row as it is sealed, and verified from its first
// row at the end, checkpoints and all; that it has no open tail once everything is healed is looked at with the rest of
// the fleet's recovery. No excuses: what a crash interrupts is sealed whole or not at all. invariant: I17; decision: D35
import { hashOfRow } from '../../../actors/audit/audit-hash.ts';
import { GENESIS_HASH, verifyChain } from '../../../machines/trust/audit-chain.rules.ts';
import { isWorldSigned } from '../world/audit-keys.ts';
import type { CheckerKind } from './checker.ts';

export const auditChain: CheckerKind = {
  name: 'audit-chain',
  promise:
    'Every committed audit row is sealed once, by one sealer at a time, and the chain verifies from its first row (I17).',
  make({ stores: { relational } }, report) {
    let head = { sequence: 0, hash: GENESIS_HASH };
    /** Rows that were there when everything was healed. */
    let owed = 0;

    function follow(console: string, from: number, to: number): void {
      if (from !== head.sequence + 1) {
        report(`${console} sealed rows ${from} to ${to}, and ${head.sequence} was the last one`);
        return;
      }
      const rows = relational
        .auditRows()
        .filter(({ sequence }) => sequence !== null && sequence >= from && sequence <= to)
        .sort((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0));
      for (const row of rows) {
        const sequence = head.sequence + 1;
        const hash = hashOfRow(row, { sequence, hash: head.hash });
        if (row.sequence !== sequence || row.hash !== hash) {
          report(`${console} sealed audit row ${row.auditId} as ${row.sequence}: it does not fit`);
          return;
        }
        head = { sequence, hash };
      }
      if (head.sequence !== to) report(`${console} sealed up to ${to}, and the rows are not there`);
    }

    return {
      observe(seen) {
        if (seen.kind === 'audit.sealed') follow(seen.console, seen.from, seen.to);
        if (seen.kind === 'audit.sealers') report(`${seen.consoles.join(' and ')} seal at once`);
        if (seen.kind === 'healed') owed = relational.auditRows().length;
      },
      finish() {
        const rows = relational.auditRows();
        const { isIntact, faults } = verifyChain({
          rows,
          checkpoints: relational.auditCheckpoints(),
          hashOf: hashOfRow,
          isSigned: isWorldSigned,
        });
        if (!isIntact) report(`the chain does not verify: ${JSON.stringify(faults[0])}`);
        const open = rows.filter(({ auditId, sequence }) => auditId <= owed && sequence === null);
        if (open.length > 0) report(`${open.length} audit rows were never sealed`);
      },
    };
  },
};
