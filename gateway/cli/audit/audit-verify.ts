// `service-console audit verify`: the chain is computed again here, from a file or from the operator API, so neither the
// Console nor its database is believed. decision: D35; invariant: I17
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import {
  fingerprintOfKey,
  hashOfRow,
  isSignedCheckpoint,
} from '../../../actors/audit/audit-hash.ts';
import {
  type ChainFault,
  type ChainVerdict,
  verifyChain,
} from '../../../machines/trust/audit-chain.rules.ts';
import type { AuditCheckpoint, ChainHead } from '../../../storage/ports/audit/audit-chain.ts';
import type { AuditRow } from '../../../storage/ports/audit/audit-log.ts';
import {
  type AuditItem,
  auditRowOf,
  type CheckpointItem,
  checkpointOf,
  lineOf,
} from '../../operator-plane/audit/audit-view.ts';
import type { Client } from '../plumbing/client.ts';

export type Trail = {
  readonly rows: readonly AuditRow[];
  readonly checkpoints: readonly AuditCheckpoint[];
  /** Lines of the file that are neither. */
  readonly unreadable: readonly number[];
};
export type TrailVerdict = ChainVerdict & {
  /** Fingerprints of the keys that signed good checkpoints. */
  readonly keys: readonly string[];
  readonly unreadable: readonly number[];
};
/** What is believed beside the trail itself. */
export type Anchors = {
  /** Public keys that may have signed; empty: the ones the checkpoints name. */
  readonly keyPems: readonly string[];
  /** Checkpoints as a Console's log told them. */
  readonly logged: readonly ChainHead[];
};

/** Computes the whole chain again. */
export function verifyTrail(trail: Trail, anchors: Anchors): TrailVerdict {
  const pinned = new Set(anchors.keyPems.map(fingerprintOfKey));
  const keys = new Set<string>();
  const isGood = (one: AuditCheckpoint): boolean => {
    if (!isSignedCheckpoint(one)) return false;
    const key = fingerprintOfKey(one.publicKeyPem);
    if (pinned.size > 0 && !pinned.has(key)) return false;
    keys.add(key);
    return true;
  };
  const { rows, unreadable } = trail;
  const verdict = verifyChain<AuditRow, ChainHead & { readonly signed?: AuditCheckpoint }>({
    rows,
    checkpoints: [...trail.checkpoints.map((signed) => ({ ...signed, signed })), ...anchors.logged],
    hashOf: hashOfRow,
    isSigned: ({ signed }) => signed === undefined || isGood(signed),
  });
  const isIntact = verdict.isIntact && unreadable.length === 0;
  return { ...verdict, isIntact, keys: [...keys].sort(), unreadable };
}

/** Reads an export in JSON lines. */
export async function readTrailFile(file: string): Promise<Trail> {
  const rows: AuditRow[] = [];
  const checkpoints: AuditCheckpoint[] = [];
  const unreadable: number[] = [];
  let number = 0;
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Infinity });
  for await (const line of lines) {
    number += 1;
    if (line.trim() === '') continue;
    const read = lineOf(parse(line));
    if (read === null) unreadable.push(number);
    else if ('row' in read) rows.push(read.row);
    else checkpoints.push(read.checkpoint);
  }
  return { rows, checkpoints, unreadable };
}

/** Reads the trail of a running Console: checkpoints first, so none names a row that is read too early. */
export async function readTrailOf(client: Client, rowsMax: number): Promise<Trail> {
  const checkpoints: AuditCheckpoint[] = [];
  for await (const one of client.all<CheckpointItem>('/api/v2/audit/checkpoints', {}, rowsMax)) {
    checkpoints.push(checkpointOf(one));
  }
  const rows: AuditRow[] = [];
  for await (const one of client.all<AuditItem>('/api/v2/audit', { order: 'chain' }, rowsMax)) {
    rows.push(auditRowOf(one));
  }
  return { rows, checkpoints, unreadable: [] };
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

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
