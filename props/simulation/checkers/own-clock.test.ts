// When a node that waits for a token does so in vain.
import { expect, it } from 'vitest';
import type { FaultKind } from '../faults/kinds.ts';
import type { FleetView } from './checker.ts';
import { ownClock } from './own-clock.ts';

const NOT_AFTER_MS = 1_000;
const CERTIFICATE = Buffer.from(JSON.stringify({ notAfterMs: NOT_AFTER_MS })).toString('base64');

/** Looks so often at a node of this kind, and tells whether it is reported. */
function isReported(
  more: { looks?: number; atMs?: number; at?: unknown; disturbances?: readonly FaultKind[] } = {},
): boolean {
  const { looks = 4, atMs = NOT_AFTER_MS - 1, disturbances = [] } = more;
  const { at = { awaiting_reenrollment: 'sleeping' } } = more;
  const files = new Map([
    ['run/status.json', JSON.stringify({ spool: {}, pipeline: {}, actors: { node: at } })],
    ['client.cert.pem', `-----BEGIN CERTIFICATE-----\n${CERTIFICATE}\n-----END CERTIFICATE-----\n`],
  ]);
  const read = (path: string): Buffer | null => {
    const text = [...files].find(([name]) => path.endsWith(name))?.[1];
    return text === undefined ? null : Buffer.from(text);
  };
  const node = { name: 'n', isUp: () => true, clock: { wallNow: () => atMs }, disk: { read } };
  const fleet = { nodes: [node], disturbances: () => disturbances };
  const reported: string[] = [];
  const checker = ownClock.make(fleet as unknown as FleetView, (detail) => reported.push(detail));
  for (let look = 0; look < looks; look += 1) checker.probe?.(0);
  return reported.length > 0;
}

it('should be told of one whose certificate is valid by its clock, however wrong a Console is', () => {
  expect(isReported()).toBe(true);
  expect(isReported({ at: { awaiting_reenrollment: 'looking' } })).toBe(true);
  expect(isReported({ disturbances: ['console.clock_jump', 'network.cut'] })).toBe(true);
});

it('should not be told of one that may still go on, has to wait, or cannot know', () => {
  expect(isReported({ looks: 3 })).toBe(false);
  expect(isReported({ atMs: NOT_AFTER_MS })).toBe(false);
  expect(isReported({ at: 'running' })).toBe(false);
  expect(isReported({ at: { awaiting_reenrollment: 'exchanging' } })).toBe(false);
  expect(isReported({ disturbances: ['disk.read_only'] })).toBe(false);
  expect(isReported({ disturbances: ['node.clock_jump'] })).toBe(false);
});
