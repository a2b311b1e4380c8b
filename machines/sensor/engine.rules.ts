// The cap on restarts of the engine, counted over a sliding window. invariant: I10
import {
  ENGINE_FALLBACK_FAILURES,
  ENGINE_MEMORY_MAX_BYTES,
  ENGINE_RESTARTS_MAX,
} from '../limits.ts';
import type { EngineState } from '../wire/heartbeat.ts';
import { TETRAGON_MEMORY_MAX_BYTES } from './tetragon-limits.ts';

const HOOK_REASON_MAX_CHARS = 512;

/** What an engine does not see; `missing` is what every engine is to see. */
export type HookReport = {
  readonly hook: string;
  readonly reason: string;
  readonly missing?: true;
};

/** What the engine said of itself when it began. */
export type EngineHello = {
  readonly kind: string;
  readonly version: string;
  readonly mode: string;
  readonly disabledHooks: readonly HookReport[];
};

/** What an engine is made of. */
export type EngineBuild = {
  readonly kind: string;
  /** Of all of its files: SHA-256. */
  readonly sum: string;
  /** For people. */
  readonly name: string;
};
/** A newer build that did not take over, and why. */
export type EngineRefusal = { readonly build: EngineBuild; readonly reason: string };

/** Whether this build was not refused already: the same bytes would fail again, and an engine would be disturbed. */
export function isUntried(refusals: readonly EngineRefusal[], build: EngineBuild): boolean {
  return refusals.every((refusal) => refusal.build.sum !== build.sum);
}

/** The refusals with one more; of each kind of engine only the last one counts. */
export function withRefusal(
  refusals: readonly EngineRefusal[],
  refusal: EngineRefusal,
): readonly EngineRefusal[] {
  return [...withoutKind(refusals, refusal.build.kind), refusal];
}

/** The refusals of other kinds of engine. */
export function withoutKind(
  refusals: readonly EngineRefusal[],
  kind: string,
): readonly EngineRefusal[] {
  return refusals.filter(({ build }) => build.kind !== kind);
}

/** The hooks an engine lacks, and before them the newer builds it was not replaced by. */
export function hooksWith(
  hooks: readonly HookReport[],
  refusals: readonly EngineRefusal[],
): readonly HookReport[] {
  const told = refusals.map((refusal) => {
    const reason = `${refusal.build.name} did not take over: ${refusal.reason}`;
    return { hook: 'engine/upgrade', reason: reason.slice(0, HOOK_REASON_MAX_CHARS) };
  });
  return [...told, ...hooks];
}

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
