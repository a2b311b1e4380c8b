// The cap on restarts of the engine, counted over a sliding window. invariant: I10
import {
  ENGINE_FALLBACK_FAILURES,
  ENGINE_MEMORY_MAX_BYTES,
  ENGINE_RESTARTS_MAX,
  TETRAGON_MEMORY_MAX_BYTES,
} from '../limits.ts';
import type { EngineState } from '../wire/heartbeat.ts';

export type HookReport = { readonly hook: string; readonly reason: string };

/** What the engine said of itself when it began. */
export type EngineHello = {
  readonly kind: string;
  readonly version: string;
  readonly mode: string;
  readonly disabledHooks: readonly HookReport[];
};

/** The failures that still count, with one more. */
export function withFailure(
  failuresAtMs: readonly number[],
  atMs: number,
  windowMs: number,
): readonly number[] {
  return [...failuresAtMs.filter((at) => at <= atMs && atMs - at < windowMs), atMs];
}

/** Whether a lesser engine that runs is better than the better one that does not stay. */
export function isTimeToFallBack(failuresAtMs: readonly number[]): boolean {
  return failuresAtMs.length >= ENGINE_FALLBACK_FAILURES;
}

/** Whether an engine of this kind holds more memory than it ever needs. */
export function isRunaway(kind: string, memoryBytes: number): boolean {
  const mostBytes = kind === 'tetragon' ? TETRAGON_MEMORY_MAX_BYTES : ENGINE_MEMORY_MAX_BYTES;
  return memoryBytes > mostBytes;
}

/** Whether the cap of a window is passed. */
export function isGivenUp(failuresAtMs: readonly number[]): boolean {
  return failuresAtMs.length > ENGINE_RESTARTS_MAX;
}

const WIRE_ENGINE_STATE: Readonly<Record<string, EngineState>> = {
  unpacking: 'unpacking',
  attending: 'starting',
  lost: 'restarting',
  backing_off: 'restarting',
  failed: 'failed',
  stopping: 'stopped',
  stopped: 'stopped',
};

/** The wire's word for a state of the engine machine; `isRunning` comes from its tag. */
export function engineStateOf(state: string, isRunning: boolean): EngineState {
  return isRunning ? 'running' : (WIRE_ENGINE_STATE[state] ?? 'failed');
}
