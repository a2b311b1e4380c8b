// How long events are kept: the event store deletes by its tables' own rule, which follows the setting. decision: D38
import { SETTINGS_RETRY_MS } from '../../machines/limits.ts';
import type { Timers } from '../../storage/ports/plumbing/clock.ts';
import type { EventStore } from '../../storage/ports/telemetry/event-store.ts';
import type { Logger } from '../runtime/logger.ts';
import type { SettingsDesk } from '../settings/settings-desk.ts';

export type RetentionDeps = {
  readonly settings: Pick<SettingsDesk, 'get' | 'subscribe'>;
  readonly events: Pick<EventStore, 'setRetentionDays'>;
  readonly time: Pick<Timers, 'setTimeout' | 'clearTimeout'>;
  readonly logger: Logger;
};

/** Follows the setting until the returned function is called. What is in force now is applied already. */
export function followRetention(deps: RetentionDeps): () => void {
  const retention = retentionOf(deps);
  const stop = deps.settings.subscribe((now, before) => {
    if (now.analyticsRetentionDays !== before.analyticsRetentionDays) retention.apply();
  });
  return () => {
    stop();
    retention.stop();
  };
}

// One attempt at a time; a store that is away is asked again, with the days that hold then.
function retentionOf({ settings, events, time, logger }: RetentionDeps) {
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
