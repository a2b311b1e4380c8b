// What makes the audit log tamper-evident, and how a damaged chain is read. Every sealed row has a place (1, 2, 3, ...)
// and a hash over its content, its place and the hash before it; checkpoints sign hashes. Who changes a row breaks its
// hash; who also repairs the hashes behind it breaks the next checkpoint. The functions that hash and check signatures
// are handed in: nothing here touches a library. decision: D35; invariant: I17
import { AUDIT_FAULTS_TOLD_MAX } from '../limits.ts';

export const GENESIS_HASH = '0'.repeat(64);
/** Damages that are held while a chain is read; the first are told. */
const FAULTS_KEPT_MAX = 10 * AUDIT_FAULTS_TOLD_MAX;

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

type Chain<R, C> = {
  readonly checkpoints: readonly C[];
  readonly hashOf: (row: R, place: Place) => string;
  readonly isSigned: (checkpoint: C) => boolean;
};

/** Reads a whole chain, in any order of its rows, and names every damage it can tell apart, the first ones first. */
export function verifyChain<R extends Row, C extends Place>({
  rows,
  ...chain
}: Chain<R, C> & { readonly rows: readonly R[] }): ChainVerdict {
  const reader = chainReader(chain);
  const sealed = rows.filter(isSealed).sort((a, b) => a.sequence - b.sequence);
  for (const row of sealed) reader.read(row);
  return { ...reader.end(), openTail: rows.length - sealed.length };
}

/**
 * The same row by row, in the order of the chain: holds the row at hand and what it needs of damaged ones, however long
 * the chain is. `end({ isCut: true })` says that rows follow which were not read: it judges no checkpoint behind them.
 */
export function chainReader<R extends Row, C extends Place>(chain: Chain<R, C>) {
  const walk = walkOf(chain.hashOf, new Set(chain.checkpoints.map(({ sequence }) => sequence)));
  let openTail = 0;
  let sealedRows = 0;
  return {
    read(row: R): void {
      if (!isSealed(row)) {
        openTail += 1;
        return;
      }
      sealedRows += 1;
      walk.read(row);
    },
    end({ isCut = false }: { readonly isCut?: boolean } = {}): ChainVerdict {
      const { head, placed, ...walked } = walk.end();
      const faults = pairsIn(walked.faults, walked.changed, chain.hashOf);
      const checkpoints = chain.checkpoints.filter(
        ({ sequence }) => !isCut || sequence <= head.sequence,
      );
      // No spread: there may be more of them than a call takes arguments.
      const newest = checkpoints.reduce((most, { sequence }) => Math.max(most, sequence), 0);
      if (newest > head.sequence) {
        const sequence = head.sequence + 1;
        faults.push({ kind: 'removed', sequence, to: newest, auditId: null });
      }
      const signedRows = judgeCheckpoints(checkpoints, { placed, faults }, chain.isSigned);
      return {
        isIntact: faults.length === 0,
        ...{ sealedRows, openTail, signedRows, head },
        faults: faults.sort((a, b) => a.sequence - b.sequence).slice(0, AUDIT_FAULTS_TOLD_MAX),
      };
    },
  };
}

/** Adds what is wrong with checkpoints to `faults`; returns how far an intact one vouches. */
function judgeCheckpoints<C extends Place>(
  checkpoints: readonly C[],
  { placed, faults }: { readonly placed: ReadonlyMap<number, Placed>; faults: ChainFault[] },
  isSigned: (checkpoint: C) => boolean,
): number {
  let firstFault = faults.reduce((least, { sequence }) => Math.min(least, sequence), Infinity);
  let signedRows = 0;
  for (const one of [...checkpoints].sort((a, b) => a.sequence - b.sequence)) {
    const row = placed.get(one.sequence);
    const place = { sequence: one.sequence, auditId: row?.auditId ?? null };
    const isForged = !isSigned(one);
    if (isForged || (row !== undefined && row.hash !== one.hash)) {
      const kind = isForged ? 'checkpoint_forged' : 'checkpoint_disagrees';
      firstFault = Math.min(firstFault, one.sequence);
      if (faults.length < FAULTS_KEPT_MAX) faults.push({ kind, ...place });
    } else if (firstFault > one.sequence) signedRows = one.sequence;
  }
  return signedRows;
}

function isSealed<R extends Row>(row: R): row is R & Sealed {
  return row.sequence !== null && row.hash !== null;
}

type Hash<R> = (row: R, place: Place) => string;
type Placed = { readonly auditId: number; readonly hash: string };
/** A row that was found changed, with the hash of the row before it. */
type Changed<R> = { readonly row: R & Sealed; readonly before: string | undefined };

/** What is held of a chain while it is read, each part bounded. */
function findings<R extends Row>(asked: ReadonlySet<number>) {
  const faults: ChainFault[] = [];
  const changed = new Map<number, Changed<R>>();
  const placed = new Map<number, Placed>();
  return {
    ...{ faults, changed, placed },
    tell(fault: ChainFault): void {
      if (faults.length < FAULTS_KEPT_MAX) faults.push(fault);
    },
    /** A row that stands at a place that a checkpoint speaks of. */
    place(sequence: number, { auditId, hash }: Sealed): void {
      if (asked.has(sequence)) placed.set(sequence, { auditId, hash });
    },
    /** A changed row; `last` is the one that was read before it. */
    keep(row: R & Sealed, last: Place): void {
      if (changed.size >= AUDIT_FAULTS_TOLD_MAX) return;
      const before = last.sequence === row.sequence - 1 ? last.hash : undefined;
      changed.set(row.sequence, { row, before });
    },
  };
}

// `shift` is how far the numbers of the rows are off since a row was inserted or taken out and the rest renumbered.
function walkOf<R extends Row>(hashOf: Hash<R>, asked: ReadonlySet<number>) {
  const found = findings<R>(asked);
  const { tell } = found;
  const waiting: (R & Sealed)[] = [];
  let head: Place = { sequence: 0, hash: GENESIS_HASH };
  let last: Place = head;
  let shift = 0;
  const put = (sequence: number, row: R & Sealed) => {
    head = { sequence, hash: row.hash };
    found.place(sequence, row);
  };

  /** Judges a row by the one behind it; returns how many of the two are done. */
  function step(row: R & Sealed, next: (R & Sealed) | undefined): 1 | 2 {
    const wanted = head.sequence + 1;
    const sequence = row.sequence + shift;
    const fault = { sequence: row.sequence, auditId: row.auditId };
    const place = { sequence: wanted, hash: head.hash };
    if (sequence > wanted) {
      tell({ kind: 'removed', sequence: wanted, to: sequence - 1, auditId: null });
      put(sequence, row);
    } else if (sequence < wanted) {
      tell({ kind: 'inserted', ...fault });
    } else if (hashOf(row, place) === row.hash) {
      put(sequence, row);
    } else if (next !== undefined && hashOf(next, place) === next.hash) {
      const behind = { sequence: wanted + 1, hash: next.hash };
      if (hashOf(row, behind) === row.hash) {
        // The two are whole and stand in each other's place.
        tell({ kind: 'reordered', ...fault });
        tell({ kind: 'reordered', sequence: next.sequence, auditId: next.auditId });
        put(wanted, next);
        put(wanted + 1, row);
        return 2;
      }
      // The next row belongs here, so this one stands in its way.
      tell({ kind: 'inserted', ...fault });
      shift = wanted - next.sequence;
    } else {
      const isGapClosed =
        next !== undefined && hashOf(next, { sequence: wanted + 2, hash: row.hash }) === next.hash;
      if (!isGapClosed) found.keep(row, last);
      tell({ kind: isGapClosed ? 'removed' : 'changed', ...fault });
      if (isGapClosed) shift += 1;
      put(isGapClosed ? wanted + 1 : wanted, row);
    }
    return 1;
  }

  const run = (left: number) => {
    while (waiting.length > left) {
      const [row, next] = waiting;
      if (row === undefined) return;
      const done = waiting.splice(0, step(row, next)).at(-1) ?? row;
      last = { sequence: done.sequence, hash: done.hash };
    }
  };
  return {
    read(row: R & Sealed): void {
      waiting.push(row);
      run(1);
    },
    end() {
      run(0);
      return { ...found, head };
    },
  };
}

// Two rows that changed places, each with its number on it: the content of one hashes to what the chain wants at the
// place of the other. Their followers were found damaged only because the hash before them was the wrong one.
function pairsIn<R extends Row>(
  faults: readonly ChainFault[],
  rows: ReadonlyMap<number, Changed<R>>,
  hashOf: Hash<R>,
): ChainFault[] {
  if (rows.size < 2) return [...faults];
  const belongs = new Map<number, string>();
  for (const [sequence, own] of rows) {
    const hash = belongs.get(sequence - 1) ?? own.before ?? GENESIS_HASH;
    for (const other of rows.values()) {
      if (other === own) continue;
      const wanted = hashOf(other.row, { sequence, hash });
      if (wanted === other.row.hash || wanted === own.row.hash) belongs.set(sequence, wanted);
    }
  }
  return faults.flatMap((fault): ChainFault[] => {
    if (fault.kind !== 'changed') return [fault];
    if (belongs.has(fault.sequence)) return [{ ...fault, kind: 'reordered' }];
    const row = rows.get(fault.sequence)?.row;
    const hash = belongs.get(fault.sequence - 1);
    const isSound =
      row !== undefined &&
      hash !== undefined &&
      hashOf(row, { sequence: fault.sequence, hash }) === row.hash;
    return isSound ? [] : [fault];
  });
}
