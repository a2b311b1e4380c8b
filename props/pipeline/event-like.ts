// An event as the normaliser makes it, for properties of what comes after it.
import type { RuntimeEvent } from '../../machines/wire/event.ts';

const BEGAN_MS = Date.UTC(2026, 4, 1);

/** The event numbered `at`, an exec of /bin/true unless the rest says otherwise. */
export function eventLike(at: number, rest: Partial<RuntimeEvent> = {}): RuntimeEvent {
  return {
    event_id: at.toString(16).padStart(32, '0'),
    schema_version: 1,
    observed_at: new Date(BEGAN_MS + at).toISOString(),
    event_kind: 'process_exec',
    severity: 'info',
    message: 'a process ended',
    process: { exec_id: `e${at}`, pid: at, binary: '/bin/true' },
    ...rest,
  };
}
