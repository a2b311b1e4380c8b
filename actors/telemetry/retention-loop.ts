// The loop that keeps the event store's own rule of deletion as the settings say. It looks again now and then, since a write
// to that store cannot be fenced: what a Console that was overtaken wrote late is put right. decision: D38, D60
import { RETENTION_CHECK_MS } from '../../machines/limits.ts';
import type { EventStore } from '../../storage/ports/telemetry/event-store.ts';
import type { DesignatedLoop } from '../loops/loop.ts';
import type { SettingsService } from '../settings/settings-service.ts';

export const RETENTION_LOOP = 'event-retention';

/** Makes the loop; what is right already costs one question. */
export function retentionLoop(deps: {
  readonly settings: Pick<SettingsService, 'get'>;
  readonly events: Pick<EventStore, 'setRetentionDays'>;
}): DesignatedLoop {
  const { settings, events } = deps;
  return {
    name: RETENTION_LOOP,
    runsOn: 'designated',
    everyMs: RETENTION_CHECK_MS,
    async run() {
      const days = settings.get().analyticsRetentionDays;
      await events.setRetentionDays(days);
      return { hasMore: settings.get().analyticsRetentionDays !== days };
    },
  };
}
