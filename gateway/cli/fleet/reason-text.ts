// A reason of a sensor's health in one line: its code, since when it holds, and what it was concluded from.
import type { Because } from '../../operator-plane/fleet/health-reasons.ts';

/** For example `heartbeat_stale since 2026-03-01T12:00:00.000Z (last_heartbeat_at ..., window_seconds 90)`. */
export function reasonText({ code, since, facts }: Because): string {
  const told = Object.entries(facts).map(([name, value]) => `${name} ${factText(value)}`);
  const parts = [code, ...(since === null ? [] : [`since ${since}`])];
  return told.length === 0 ? parts.join(' ') : `${parts.join(' ')} (${told.join(', ')})`;
}

function factText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}
