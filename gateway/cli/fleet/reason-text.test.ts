// What `sensors get` says of a health, by example.
import { describe, expect, it } from 'vitest';
import { reasonsOf, revokedBecause } from '../../operator-plane/fleet/health-reasons.ts';
import { reasonText } from './reason-text.ts';

const AT_MS = Date.parse('2026-03-01T12:00:00.000Z');

describe('a reason of a health', () => {
  it('should be told with since when and its facts, times as times', () => {
    const told = reasonsOf({
      because: [
        {
          ...{ code: 'heartbeat_stale', sinceMs: AT_MS + 90_000 },
          facts: { last_heartbeat_at: AT_MS, window_seconds: 90, stream: 'closed' },
        },
      ],
      ...{ engine: 'running', engine_since_ms: AT_MS },
    });
    expect(told.map(reasonText)).toEqual([
      'heartbeat_stale since 2026-03-01T12:01:30.000Z (last_heartbeat_at 2026-03-01T12:00:00.000Z, window_seconds 90, stream closed)',
    ]);
  });

  it('should name what an engine lacks, beside whatever the health is', () => {
    const engine = {
      kind: 'procfs',
      disabled_hooks: [
        { hook: 'engine/ebpf', reason: 'no BTF' },
        { hook: 'dns', reason: 'cannot', missing: true },
      ],
    };
    const entry = { because: [], engine: 'degraded', engine_since_ms: AT_MS };
    expect(reasonsOf(entry, engine)).toEqual([
      {
        ...{ code: 'engine_degraded', since: '2026-03-01T12:00:00.000Z' },
        facts: { engine_kind: 'procfs', missing_hooks: [{ hook: 'dns', reason: 'cannot' }] },
      },
    ]);
  });

  it('should say why an identity was revoked', () => {
    expect(reasonText(revokedBecause(AT_MS, 'lost'))).toBe(
      'revoked since 2026-03-01T12:00:00.000Z (revoked_at 2026-03-01T12:00:00.000Z, reason lost)',
    );
  });
});
