// Puts changed settings into what holds its own copy: the actors of sensors, which have timers armed by the window in which
// a renewal is due, and the event store, which deletes by its tables' own rule. Everything else asks the desk when it needs
// a value. decision: D38
import type { SensorDirectory } from '../../actors/fleet/sensor.actor.ts';
import type { Logger } from '../../actors/runtime/logger.ts';
import type { SettingsDesk } from '../../actors/settings/settings-desk.ts';
import { SETTINGS_RETRY_MS } from '../../machines/limits.ts';
import type { EventStore } from '../../storage/ports/telemetry/event-store.ts';
import type { Time } from './time.ts';

export type ApplySettingsDeps = {
  readonly settings: Pick<SettingsDesk, 'get' | 'intervals' | 'subscribe'>;
  readonly sensors: Pick<SensorDirectory, 'ids' | 'tell'>;
  readonly events: Pick<EventStore, 'setRetentionDays'>;
  readonly time: Pick<Time, 'now' | 'setTimeout' | 'clearTimeout'>;
  readonly logger: Logger;
};

/** Follows the settings until the returned function is called. What is in force now is applied already. */
export function applySettings(deps: ApplySettingsDeps): () => void {
  const { settings, sensors, time } = deps;
  let dueMs = settings.intervals.RENEWAL_DUE_MS;
  const retention = followRetention(deps);
  const stop = settings.subscribe((now, before) => {
    if (now.analyticsRetentionDays !== before.analyticsRetentionDays) retention.apply();
    const nextDueMs = settings.intervals.RENEWAL_DUE_MS;
    if (nextDueMs === dueMs) return;
    dueMs = nextDueMs;
    for (const id of sensors.ids()) {
      sensors.tell(id, { type: 'windows.changed', atMs: time.now(), dueMs });
    }
  });
  return () => {
    stop();
    retention.stop();
  };
}

// One attempt at a time; a store that is away is asked again, with the days that hold then.
function followRetention({ settings, events, time, logger }: ApplySettingsDeps) {
  let isRunning = false;
  let isStopped = false;
  let timer: unknown = null;

  async function run(): Promise<void> {
    if (isRunning || isStopped) return;
    isRunning = true;
    time.clearTimeout(timer);
    const days = settings.get().analyticsRetentionDays;
    try {
      await events.setRetentionDays(days);
      isRunning = false;
      logger.info({ days }, 'the retention of events was set');
      if (settings.get().analyticsRetentionDays !== days) void run();
    } catch (error) {
      isRunning = false;
      logger.warn({ error: String(error), days }, 'the retention of events could not be set yet');
      if (!isStopped) timer = time.setTimeout(() => void run(), SETTINGS_RETRY_MS);
    }
  }

  return {
    apply: () => void run(),
    stop() {
      isStopped = true;
      time.clearTimeout(timer);
    },
  };
}
