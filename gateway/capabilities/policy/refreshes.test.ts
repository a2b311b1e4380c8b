// What is said on streams where something changed: settings that travel, and a certificate that is to be renewed.
import { describe, expect, it } from 'vitest';
import type { FeedMove } from '../../../actors/runtime/inspection-feed.ts';
import { SETTING_DEFAULTS, settingsOf } from '../../../machines/console/settings/settings.rules.ts';
import type { DownstreamFrame } from '../../../machines/wire/stream.ts';
import { sendRefreshes } from './refreshes.ts';

function begin() {
  const sent: [string, DownstreamFrame][] = [];
  let tellSettings: Parameters<Parameters<typeof sendRefreshes>[0]['settings']['subscribe']>[0] =
    () => undefined;
  let tellFeed: (entry: FeedMove) => void = () => undefined;
  const stop = sendRefreshes({
    settings: {
      subscribe(listener) {
        tellSettings = listener;
        return () => undefined;
      },
    },
    feed: {
      subscribe(listener) {
        tellFeed = listener;
        return () => undefined;
      },
    },
    sensorIds: () => ['open', 'closed'],
    streams: {
      isOpen: (id) => id === 'open',
      send: (id, frame) => sent.push([id, frame]) > 0,
    },
  });
  const before = settingsOf(SETTING_DEFAULTS);
  return {
    sent,
    stop,
    change: (more: Partial<typeof before>) => tellSettings({ ...before, ...more }, before),
    move: (more: Partial<FeedMove>) =>
      tellFeed({ kind: 'sensor', id: 'open', region: 'trust', ...more } as FeedMove),
  };
}

describe('refreshes', () => {
  it('should tell open streams of settings that travel, and of no others', () => {
    const { sent, change } = begin();
    change({ analyticsRetentionDays: 30 });
    expect(sent).toEqual([]);
    change({ renewalThresholdSeconds: 7_200 });
    expect(sent).toEqual([['open', { type: 'refresh', what: ['settings'] }]]);
  });

  it('should tell a node when its certificate is to be renewed, and at no other move', () => {
    const { sent, move } = begin();
    move({ from: 'renewal_recommended', to: 'trusted' });
    move({ id: 'closed', from: 'trusted', to: 'renewal_recommended' });
    move({ region: 'stream', from: 'closed', to: 'renewal_due' });
    move({ kind: 'rollout', to: 'renewal_due' });
    expect(sent).toEqual([]);
    move({ from: 'trusted', to: 'renewal_recommended' });
    move({ from: 'renewal_recommended', to: 'renewal_due' });
    const frame = { type: 'refresh', what: ['certificate'] };
    expect(sent).toEqual([
      ['open', frame],
      ['open', frame],
    ]);
  });
});
