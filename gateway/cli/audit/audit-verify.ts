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
  type Anchors,
  type AuditCheckpoint,
  type AuditRow,
  auditRowOf,
  checkpointOf,
  judgeTrail,
  lineOf,
  type Trail,
  type TrailVerdict,
} from '../../../machines/trust/audit-trail.rules.ts';
import type { AuditItem, CheckpointItem } from '../../operator-plane/audit/audit-view.ts';
import type { Client } from '../plumbing/client.ts';

/** Computes the whole chain again. */
export function verifyTrail(trail: Trail, anchors: Anchors): TrailVerdict {
  const [hashOf, isSigned] = [hashOfRow, isSignedCheckpoint];
  return judgeTrail(trail, anchors, { hashOf, isSigned, fingerprintOf: fingerprintOfKey });
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
    const read = lineOf(line);
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
