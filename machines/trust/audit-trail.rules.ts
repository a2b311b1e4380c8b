// The audit trail as it leaves a Console, and how it is judged far from it: what of a row is hashed and what of a checkpoint
// is signed, one line of an export, a trail as a whole. The Console, the command line and the page use the same rules; only
// what hashes and checks signatures is theirs. decision: D35, D95; invariant: I17
import { AUDIT_FAULTS_TOLD_MAX, OPERATOR_EXPORT_ROWS_MAX } from '../limits.ts';
import { isShallow } from '../wire/json-depth.ts';
import {
  type ChainFault,
  type ChainVerdict,
  chainReader,
  verifyChain,
} from './audit-chain.rules.ts';

/** What one action changed: field names and values, secrets masked before they are stored. */
export type AuditFacts = Readonly<Record<string, unknown>>;

/** An entry as stored. `sequence` and `hash` are its place in the chain; null until it is sealed. */
export type AuditRow = {
  readonly auditId: number;
  readonly atMs: number;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly result: string;
  readonly detail: AuditFacts;
  readonly from: string | null;
  readonly before: AuditFacts | null;
  readonly after: AuditFacts | null;
  readonly sequence: number | null;
  readonly hash: string | null;
};

/** The last sealed row; sequence 0 and the genesis hash before there is one. */
export type ChainHead = { readonly sequence: number; readonly hash: string };

/** A signed statement that the row `sequence` has `hash`, and with it every row before. */
export type AuditCheckpoint = ChainHead & {
  readonly atMs: number;
  readonly publicKeyPem: string;
  /** Ed25519, base64. */
  readonly signature: string;
};

/** What is hashed of a row: everything but its own place and hash, which come with its place. */
export type HashedRow = Omit<AuditRow, 'sequence' | 'hash'>;

/** What a row's hash is over, as canonical JSON: `place` is its own number and the hash of the row before. */
export function hashedContent(row: HashedRow, place: ChainHead): AuditFacts {
  const { auditId, atMs, actor, action, target, result, from, before, after, detail } = row;
  return {
    ...{ audit_id: auditId, at_ms: atMs, actor, action, target, result, from },
    ...{ before, after, detail, sequence: place.sequence, previous: place.hash },
  };
}

/** Stands before the content in the bytes that a checkpoint's signature is over. */
export const CHECKPOINT_PREFIX = 'service-audit-checkpoint-v1:';

/** What a checkpoint's signature is over, as canonical JSON. */
export function signedContent({
  sequence,
  hash,
  atMs,
}: Pick<AuditCheckpoint, 'sequence' | 'hash' | 'atMs'>): AuditFacts {
  return { sequence, hash, at_ms: atMs };
}

/** A row as it is told. */
export type AuditLine = Omit<AuditRow, 'auditId' | 'atMs'> & {
  readonly audit_id: number;
  readonly at: string;
};
/** A checkpoint as it is told. */
export type CheckpointLine = ChainHead & {
  readonly at: string;
  readonly public_key_pem: string;
  readonly signature: string;
};

/** A row as stored, from what was told. */
export function auditRowOf({ audit_id: auditId, at, ...same }: AuditLine): AuditRow {
  return { ...same, auditId, atMs: Date.parse(at) };
}

/** A checkpoint as stored, from what was told. */
export function checkpointOf(line: CheckpointLine): AuditCheckpoint {
  const { sequence, hash, at, public_key_pem: publicKeyPem, signature } = line;
  return { sequence, hash, atMs: Date.parse(at), publicKeyPem, signature };
}

/** One line of an export: a row, a checkpoint, or null for anything else. Never throws. */
export function lineOf(
  text: string,
): { readonly row: AuditRow } | { readonly checkpoint: AuditCheckpoint } | null {
  const value = isShallow(text) ? parse(text) : null;
  if (!isFacts(value)) return null;
  if (isRow(value)) return { row: auditRowOf(value) };
  return isCheckpoint(value) ? { checkpoint: checkpointOf(value) } : null;
}

const SHA256 = /^[0-9a-f]{64}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;
const isText = (value: unknown): value is string => typeof value === 'string';
const isFacts = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isHash = (value: unknown) => isText(value) && SHA256.test(value);
const isTime = (value: unknown) =>
  isText(value) && TIME.test(value) && !Number.isNaN(Date.parse(value));

function isRow(value: Record<string, unknown>): value is Record<string, unknown> & AuditLine {
  const { audit_id: auditId, at, actor, action, target, result, from } = value;
  const { before, after, detail, sequence, hash } = value;
  return (
    Number.isInteger(auditId) &&
    isTime(at) &&
    [actor, action, target, result].every(isText) &&
    (from === null || isText(from)) &&
    [before, after].every((facts) => facts === null || isFacts(facts)) &&
    isFacts(detail) &&
    (sequence === null || Number.isInteger(sequence)) &&
    (hash === null || isHash(hash))
  );
}

function isCheckpoint(
  value: Record<string, unknown>,
): value is Record<string, unknown> & CheckpointLine {
  const { sequence, hash, at, public_key_pem: key, signature } = value;
  return (
    Number.isInteger(sequence) && isHash(hash) && isTime(at) && isText(key) && isText(signature)
  );
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** What computes, in the program that verifies. `hashOf` may throw for a row that has no canonical form. */
export type TrailCrypto = {
  readonly hashOf: (row: HashedRow, place: ChainHead) => string;
  /** Whether a checkpoint is signed by the key it names. */
  readonly isSigned: (checkpoint: AuditCheckpoint) => boolean;
  readonly fingerprintOf: (publicKeyPem: string) => string;
};
/** What is believed beside the trail itself. */
export type Anchors = {
  /** Public keys that may have signed; empty: the ones the checkpoints name. */
  readonly keyPems: readonly string[];
  /** Checkpoints as a Console's log told them. */
  readonly logged: readonly ChainHead[];
};
export type Trail = {
  readonly rows: readonly AuditRow[];
  readonly checkpoints: readonly AuditCheckpoint[];
  /** Lines of the file that are neither. */
  readonly unreadable: readonly number[];
};
export type TrailVerdict = ChainVerdict & {
  /** Fingerprints of the keys that signed good checkpoints. */
  readonly keys: readonly string[];
  /** Numbers of lines that are neither a row nor a checkpoint, the first ones. */
  readonly unreadable: readonly number[];
};

type Statement = ChainHead & { readonly signed?: AuditCheckpoint };

/** Computes the whole chain again. */
export function judgeTrail(trail: Trail, anchors: Anchors, tools: TrailCrypto): TrailVerdict {
  const { keys, chain } = chainOf(trail.checkpoints, anchors, tools);
  const verdict = verifyChain<AuditRow, Statement>({ rows: trail.rows, ...chain });
  return withLines(verdict, keys, trail.unreadable);
}

/** What a trail that was read line by line is worth. */
export type ReadVerdict = TrailVerdict & {
  readonly checkpoints: number;
  /** Rows follow that were not read, since the export holds no more. */
  readonly isCut: boolean;
  /** False when lines stand in another order than a Console writes them; such a file is not judged here. */
  readonly isOrdered: boolean;
};

/**
 * Judges an export line by line, in the order in which a Console writes it: checkpoints, sealed rows by number, the open
 * tail. Holds the checkpoints and a row or two, so its length does not matter.
 */
export function trailReader(tools: TrailCrypto, rowsMax: number = OPERATOR_EXPORT_ROWS_MAX) {
  const checkpoints: AuditCheckpoint[] = [];
  const unreadable: number[] = [];
  let opened: ReturnType<typeof openChain> | null = null;
  const openChain = () => {
    const { keys, chain } = chainOf(checkpoints, { keyPems: [], logged: [] }, tools);
    return { keys, reader: chainReader<AuditRow, Statement>(chain) };
  };
  let [lines, rows, last] = [0, 0, 0];
  let isOrdered = true;
  return {
    /** How many rows there were. */
    rows: () => rows,
    read(text: string): void {
      lines += 1;
      if (text.trim() === '') return;
      const line = lineOf(text);
      if (line === null) {
        if (unreadable.length < AUDIT_FAULTS_TOLD_MAX) unreadable.push(lines);
        return;
      }
      if ('checkpoint' in line) {
        if (opened !== null) isOrdered = false;
        else checkpoints.push(line.checkpoint);
        return;
      }
      const sequence = line.row.sequence ?? Infinity;
      if (sequence < last) isOrdered = false;
      last = sequence;
      rows += 1;
      opened ??= openChain();
      opened.reader.read(line.row);
    },
    end(): ReadVerdict {
      const { keys, reader } = opened ?? openChain();
      const isCut = rows >= rowsMax;
      const verdict = withLines(reader.end({ isCut }), keys, unreadable);
      const isIntact = verdict.isIntact && isOrdered;
      return { ...verdict, isIntact, isCut, isOrdered, checkpoints: checkpoints.length };
    },
  };
}

function chainOf(checkpoints: readonly AuditCheckpoint[], anchors: Anchors, tools: TrailCrypto) {
  const pinned = new Set(anchors.keyPems.map(tools.fingerprintOf));
  const keys = new Set<string>();
  const isGood = (one: AuditCheckpoint): boolean => {
    if (!tools.isSigned(one)) return false;
    const key = tools.fingerprintOf(one.publicKeyPem);
    if (pinned.size > 0 && !pinned.has(key)) return false;
    keys.add(key);
    return true;
  };
  const chain = {
    checkpoints: [
      ...checkpoints.map((signed): Statement => ({ ...signed, signed })),
      ...anchors.logged,
    ],
    hashOf: (row: AuditRow, place: ChainHead) => {
      // A number beyond all numbers, or half a surrogate: nobody sealed such a row.
      try {
        return tools.hashOf(row, place);
      } catch {
        return '';
      }
    },
    isSigned: ({ signed }: Statement) => signed === undefined || isGood(signed),
  };
  return { keys, chain };
}

function withLines(
  verdict: ChainVerdict,
  keys: ReadonlySet<string>,
  unreadable: readonly number[],
): TrailVerdict {
  const isIntact = verdict.isIntact && unreadable.length === 0;
  return { ...verdict, isIntact, keys: [...keys].sort(), unreadable };
}

/** A damage in words. */
export function tellFault({ kind, sequence, to = sequence, auditId }: ChainFault): string {
  const row = auditId === null ? `row ${sequence}` : `row ${sequence} (audit id ${auditId})`;
  switch (kind) {
    case 'changed':
      return `${row} was changed, or the row before it was and its hash repaired`;
    case 'removed':
      return to === sequence
        ? `a row was removed at ${sequence}`
        : `the rows ${sequence} to ${to} were removed`;
    case 'inserted':
      return `${row} was inserted`;
    case 'reordered':
      return `${row} changed places with another`;
    case 'checkpoint_forged':
      return `the checkpoint at ${sequence} is not signed by a key that may`;
    case 'checkpoint_disagrees':
      return `the chain was written anew at or before ${row}: the checkpoint there signed another hash`;
    default:
      return kind satisfies never;
  }
}
