// The reference audit log and its chain: entries in the order they came, nothing is ever changed or removed; sealing
// gives a row its place and hash once.
import { GENESIS_HASH } from '../../../machines/trust/audit-chain.rules.ts';
import type { AuditChain, AuditCheckpoint, ChainHead } from '../../ports/audit/audit-chain.ts';
import { storedEntry } from '../../ports/audit/audit-entries.ts';
import type { AuditEntry, AuditLog, AuditQuery, AuditRow } from '../../ports/audit/audit-log.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { createAwaySwitch } from '../plumbing/away-switch.ts';
import { type Calls, portOf } from '../plumbing/unsafe-port-of.ts';
import type { Fence } from '../runtime/designation.ts';

export type MemoryAudit = {
  readonly audit: AuditLog;
  readonly chain: AuditChain;
  /** Writes at once, for the fakes whose actions are audited. */
  record(entry: AuditEntry): void;
  /** What it holds, oldest first. */
  readonly rows: readonly AuditRow[];
  setAway(away: boolean): void;
};
export type AuditCalls = Pick<MemoryAudit, 'record' | 'rows'> & {
  readonly calls: Calls<AuditLog>;
  readonly chain: Calls<AuditChain>;
};

const unfenced: Fence = () => undefined;

/** Makes an empty log on a switch; `fence` judges the epoch of those who seal. */
export function createMemoryAudit(fence: Fence = unfenced): MemoryAudit {
  const { ask, setAway } = createAwaySwitch();
  const { record, rows, calls, chain } = auditCalls(fence);
  return {
    record,
    rows,
    setAway,
    audit: portOf<AuditLog>('audit', calls, ask),
    chain: portOf<AuditChain>('audit_chain', chain, ask),
  };
}

/** The calls on an empty log. */
export function auditCalls(fence: Fence = unfenced): AuditCalls {
  const kept: AuditRow[] = [];
  function record(entry: AuditEntry): void {
    kept.push({ ...storedEntry(entry), auditId: kept.length + 1, sequence: null, hash: null });
  }
  return {
    record,
    rows: kept,
    calls: {
      append(entries) {
        for (const entry of entries) record(entry);
      },
      recent: (limit) => kept.slice(-Math.max(1, limit)).toReversed().slice(0, limit),
      search: (query) => search(kept, query),
    },
    chain: chainCalls(kept, fence),
  };
}

function chainCalls(kept: AuditRow[], fence: Fence): Calls<AuditChain> {
  const signed: AuditCheckpoint[] = [];
  let head: ChainHead = { sequence: 0, hash: GENESIS_HASH };
  return {
    seal({ limit, hashOf, epoch }) {
      fence(epoch);
      const unsealed = kept.filter((row) => row.sequence === null).slice(0, limit);
      // All hashes before the first change: a hash that throws leaves nothing behind, as a transaction does.
      let next = head;
      const rows = unsealed.map((row) => {
        const sequence = next.sequence + 1;
        next = { sequence, hash: hashOf(row, { sequence, hash: next.hash }) };
        return { ...row, ...next };
      });
      for (const row of rows) kept[row.auditId - 1] = row;
      head = next;
      return { isBusy: false, sealed: rows.length, head, checkpoint: signed.at(-1) ?? null };
    },
    checkpoint(sign, epoch) {
      fence(epoch);
      if (head.sequence <= (signed.at(-1)?.sequence ?? 0)) return null;
      const one = sign(head);
      signed.push(one);
      return one;
    },
    checkpoints: ({ after, limit }) =>
      signed.filter(({ sequence }) => sequence > after).slice(0, limit),
  };
}

function search(kept: readonly AuditRow[], query: AuditQuery): readonly AuditRow[] {
  const { after, order, fromMs = -Infinity, toMs = Infinity } = query;
  const names = ['actor', 'action', 'target', 'result'] as const;
  const rows = kept
    .filter((row) => row.atMs >= fromMs && row.atMs < toMs)
    .filter((row) =>
      names.every((name) => {
        const wanted = query[name];
        return wanted === undefined || row[name] === storableText(wanted);
      }),
    )
    .sort(order === 'newest' ? (a, b) => b.auditId - a.auditId : inChainOrder);
  const isBehind = (row: AuditRow) =>
    after === null ||
    (order === 'newest' ? row.auditId < after.auditId : inChainOrder(row, after) > 0);
  return rows.filter(isBehind).slice(0, query.limit);
}

type Place = Pick<AuditRow, 'auditId' | 'sequence'>;
function inChainOrder(a: Place, b: Place): number {
  const [left, right] = [a.sequence ?? Infinity, b.sequence ?? Infinity];
  return left === right ? a.auditId - b.auditId : left - right;
}
