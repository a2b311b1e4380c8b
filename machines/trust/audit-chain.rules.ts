// What makes the audit log tamper-evident, and how a damaged chain is read. Every sealed row has a place (1, 2, 3, ...)
// and a hash over its content, its place and the hash before it; checkpoints sign hashes. Who changes a row breaks its
// hash; who also repairs the hashes behind it breaks the next checkpoint. The functions that hash and check signatures
// are handed in: nothing here touches a library. decision: D35; invariant: I17
import { AUDIT_FAULTS_TOLD_MAX } from '../limits.ts';

export const GENESIS_HASH = '0'.repeat(64);

type Place = { readonly sequence: number; readonly hash: string };
type Row = {
  readonly auditId: number;
  readonly sequence: number | null;
  readonly hash: string | null;
};
type Sealed = Row & Place;

export type ChainFault = {
  readonly kind:
    | 'changed'
    | 'removed'
    | 'inserted'
    | 'reordered'
    | 'checkpoint_forged'
    | 'checkpoint_disagrees';
  /** The place where the damage was found; of a gap, its first. */
  readonly sequence: number;
  /** The last place of a gap. */
  readonly to?: number;
  /** The row that stands there; null when none does. */
  readonly auditId: number | null;
};
export type ChainVerdict = {
  readonly isIntact: boolean;
  readonly sealedRows: number;
  /** Rows without a place: written, not yet sealed, and not protected. */
  readonly openTail: number;
  /** Rows from the first on that an intact checkpoint vouches for. */
  readonly signedRows: number;
  readonly head: Place;
  readonly faults: readonly ChainFault[];
};

/** Reads a whole chain, in any order of its rows, and names every damage it can tell apart, the first ones first. */
export function verifyChain<R extends Row, C extends Place>(chain: {
  readonly rows: readonly R[];
  readonly checkpoints: readonly C[];
  readonly hashOf: (row: R, place: Place) => string;
  readonly isSigned: (checkpoint: C) => boolean;
}): ChainVerdict {
  const { rows, checkpoints, hashOf } = chain;
  const sealed = rows
    .filter((row): row is R & Sealed => row.sequence !== null && row.hash !== null)
    .sort((a, b) => a.sequence - b.sequence);
  const walked = walk(sealed, hashOf);
  const faults = pairsIn(walked.faults, sealed, hashOf);
  const newest = Math.max(0, ...checkpoints.map(({ sequence }) => sequence));
  if (newest > walked.head.sequence) {
    const sequence = walked.head.sequence + 1;
    faults.push({ kind: 'removed', sequence, to: newest, auditId: null });
  }
  let signedRows = 0;
  for (const one of [...checkpoints].sort((a, b) => a.sequence - b.sequence)) {
    const row = walked.placed.get(one.sequence);
    const place = { sequence: one.sequence, auditId: row?.auditId ?? null };
    if (!chain.isSigned(one)) faults.push({ kind: 'checkpoint_forged', ...place });
    else if (row !== undefined && row.hash !== one.hash)
      faults.push({ kind: 'checkpoint_disagrees', ...place });
    else if (faults.every(({ sequence }) => sequence > one.sequence)) signedRows = one.sequence;
  }
  return {
    isIntact: faults.length === 0,
    sealedRows: sealed.length,
    openTail: rows.length - sealed.length,
    signedRows,
    head: walked.head,
    faults: faults.sort((a, b) => a.sequence - b.sequence).slice(0, AUDIT_FAULTS_TOLD_MAX),
  };
}

type Hash<R> = (row: R, place: Place) => string;

// `shift` is how far the numbers of the rows are off since a row was inserted or taken out and the rest renumbered.
function walk<R extends Row>(sealed: readonly (R & Sealed)[], hashOf: Hash<R>) {
  const faults: ChainFault[] = [];
  const placed = new Map<number, R & Sealed>();
  let head: Place = { sequence: 0, hash: GENESIS_HASH };
  let shift = 0;
  for (let at = 0; at < sealed.length; at += 1) {
    const row = sealed[at];
    if (row === undefined) break;
    const next = sealed[at + 1];
    const wanted = head.sequence + 1;
    const sequence = row.sequence + shift;
    const fault = { sequence: row.sequence, auditId: row.auditId };
    const place = { sequence: wanted, hash: head.hash };
    if (sequence > wanted) {
      faults.push({ kind: 'removed', sequence: wanted, to: sequence - 1, auditId: null });
      head = { sequence, hash: row.hash };
    } else if (sequence < wanted) {
      faults.push({ kind: 'inserted', ...fault });
      continue;
    } else if (hashOf(row, place) === row.hash) {
      head = { sequence, hash: row.hash };
    } else if (next !== undefined && hashOf(next, place) === next.hash) {
      const behind = { sequence: wanted + 1, hash: next.hash };
      if (hashOf(row, behind) === row.hash) {
        // The two are whole and stand in each other's place.
        faults.push({ kind: 'reordered', ...fault });
        faults.push({ kind: 'reordered', sequence: next.sequence, auditId: next.auditId });
        placed.set(wanted, next);
        head = { sequence: wanted + 1, hash: row.hash };
        placed.set(head.sequence, row);
        at += 1;
        continue;
      }
      // The next row belongs here, so this one stands in its way.
      faults.push({ kind: 'inserted', ...fault });
      shift = wanted - next.sequence;
      continue;
    } else {
      const isGapClosed =
        next !== undefined && hashOf(next, { sequence: wanted + 2, hash: row.hash }) === next.hash;
      faults.push({ kind: isGapClosed ? 'removed' : 'changed', ...fault });
      if (isGapClosed) shift += 1;
      head = { sequence: isGapClosed ? wanted + 1 : wanted, hash: row.hash };
    }
    placed.set(head.sequence, row);
  }
  return { faults, head, placed };
}

// Two rows that changed places, each with its number on it: the content of one hashes to what the chain wants at the
// place of the other. Their followers were found damaged only because the hash before them was the wrong one.
function pairsIn<R extends Row>(
  faults: ChainFault[],
  sealed: readonly (R & Sealed)[],
  hashOf: Hash<R>,
): ChainFault[] {
  const changed = faults.filter(({ kind }) => kind === 'changed').slice(0, AUDIT_FAULTS_TOLD_MAX);
  if (changed.length < 2) return faults;
  const rows = new Map(sealed.map((row) => [row.sequence, row]));
  const belongs = new Map<number, string>();
  for (const { sequence } of changed) {
    const hash = belongs.get(sequence - 1) ?? rows.get(sequence - 1)?.hash ?? GENESIS_HASH;
    const own = rows.get(sequence);
    for (const other of changed) {
      const row = rows.get(other.sequence);
      if (row === undefined || own === undefined || row === own) continue;
      const wanted = hashOf(row, { sequence, hash });
      if (wanted === row.hash || wanted === own.hash) belongs.set(sequence, wanted);
    }
  }
  return faults.flatMap((fault): ChainFault[] => {
    if (fault.kind !== 'changed') return [fault];
    if (belongs.has(fault.sequence)) return [{ ...fault, kind: 'reordered' }];
    const row = rows.get(fault.sequence);
    const hash = belongs.get(fault.sequence - 1);
    const isSound =
      row !== undefined &&
      hash !== undefined &&
      hashOf(row, { sequence: fault.sequence, hash }) === row.hash;
    return isSound ? [] : [fault];
  });
}
