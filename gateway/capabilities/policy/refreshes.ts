// Signals on the stream where something changed that a node would hear only with its next heartbeat: its settings, and that
// its certificate is to be renewed.
import type { InspectionFeed } from '../../../actors/runtime/inspection-feed.ts';
import type { SettingsService } from '../../../actors/settings/settings-service.ts';
import type { StreamHub } from '../../sensor-plane/stream-hub.ts';

const RENEWING = ['renewal_recommended', 'renewal_due'];

/** Sends them until the returned function is called. */
export function sendRefreshes(deps: {
  readonly settings: Pick<SettingsService, 'subscribe'>;
  readonly feed: Pick<InspectionFeed, 'subscribe'>;
  readonly sensorIds: () => Iterable<string>;
  readonly streams: Pick<StreamHub, 'send' | 'isOpen'>;
}): () => void {
  const { settings, feed, sensorIds, streams } = deps;
  const stopSettings = settings.subscribe((now, before) => {
    if (now.renewalThresholdSeconds === before.renewalThresholdSeconds) return;
    for (const id of sensorIds()) {
      if (streams.isOpen(id)) streams.send(id, { type: 'refresh', what: ['settings'] });
    }
  });
  const stopFeed = feed.subscribe(({ kind, id, region, to }) => {
    if (kind !== 'sensor' || region !== 'trust' || !RENEWING.includes(to)) return;
    if (streams.isOpen(id)) streams.send(id, { type: 'refresh', what: ['certificate'] });
  });
  return () => {
    stopSettings();
    stopFeed();
  };
}
