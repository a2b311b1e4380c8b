// The window in which a renewal is due, for the actors of sensors: they have timers armed by it, so they are told when an
// operator changes it. decision: D38
import type { SettingsService } from '../settings/settings-service.ts';
import type { SensorDirectory } from './sensor.actor.ts';

/** Follows the setting until the returned function is called. What is in force now is applied already. */
export function followRenewalWindow(deps: {
  readonly settings: Pick<SettingsService, 'intervals' | 'subscribe'>;
  readonly sensors: Pick<SensorDirectory, 'ids' | 'tell'>;
  readonly now: () => number;
}): () => void {
  const { settings, sensors, now } = deps;
  let dueMs = settings.intervals.RENEWAL_DUE_MS;
  return settings.subscribe(() => {
    const nextDueMs = settings.intervals.RENEWAL_DUE_MS;
    if (nextDueMs === dueMs) return;
    dueMs = nextDueMs;
    for (const id of sensors.ids()) {
      sensors.tell(id, { type: 'windows.changed', atMs: now(), dueMs });
    }
  });
}
