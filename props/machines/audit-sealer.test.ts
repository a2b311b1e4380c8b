// The sealer goes on while rows wait in full batches, and signs in time. decision: D35
import { describe, expect, it } from 'vitest';
import {
  isCheckpointDue,
  isCutOff,
  isFull,
  type SealRound,
} from '../../machines/console/audit/audit-sealer.rules.ts';
import {
  AUDIT_CHECKPOINT_INTERVAL_MS,
  AUDIT_CHECKPOINT_ROWS,
  AUDIT_SEAL_BATCH_ROWS,
} from '../../machines/limits.ts';

const AT_MS = 1_700_000_000_000;
const round = (more: Partial<Extract<SealRound, { isBusy: false }>>): SealRound => ({
  ...{ isBusy: false, atMs: AT_MS, sealed: 0, headSequence: 5 },
  checkpoint: { sequence: 1, atMs: AT_MS },
  ...more,
});

describe('audit sealer: rules', () => {
  it('never signs for a busy round or an empty chain, and never a head twice', () => {
    expect(isCheckpointDue({ isBusy: true })).toBe(false);
    expect(isCheckpointDue(round({ headSequence: 0, checkpoint: null }))).toBe(false);
    const late = { sequence: 5, atMs: AT_MS - 1e9 };
    expect(isCheckpointDue(round({ checkpoint: late }))).toBe(false);
  });

  it('always signs the first rows, and later ones after the time or the number', () => {
    const at = (agoMs: number) => round({ checkpoint: { sequence: 1, atMs: AT_MS - agoMs } });
    const many = (unsigned: number) => round({ headSequence: 1 + unsigned });
    expect(isCheckpointDue(round({ checkpoint: null }))).toBe(true);
    expect(isCheckpointDue(at(AUDIT_CHECKPOINT_INTERVAL_MS - 1))).toBe(false);
    expect(isCheckpointDue(at(AUDIT_CHECKPOINT_INTERVAL_MS))).toBe(true);
    expect(isCheckpointDue(at(-1))).toBe(true);
    expect(isCheckpointDue(many(AUDIT_CHECKPOINT_ROWS - 1))).toBe(false);
    expect(isCheckpointDue(many(AUDIT_CHECKPOINT_ROWS))).toBe(true);
  });

  it('always notices a chain that ends before its checkpoint', () => {
    expect(isCutOff(round({ headSequence: 5, checkpoint: { sequence: 6, atMs: 0 } }))).toBe(true);
    expect(isCutOff(round({ headSequence: 6, checkpoint: { sequence: 6, atMs: 0 } }))).toBe(false);
    expect([isCutOff(round({ checkpoint: null })), isCutOff({ isBusy: true })]).toEqual([
      false,
      false,
    ]);
  });

  it('is full only with a whole batch', () => {
    expect(isFull(round({ sealed: AUDIT_SEAL_BATCH_ROWS - 1 }))).toBe(false);
    expect(isFull(round({ sealed: AUDIT_SEAL_BATCH_ROWS }))).toBe(true);
    expect(isFull({ isBusy: true })).toBe(false);
  });
});
