import { describe, expect, it } from 'vitest';
import { type HealthFacts, trustHealth, WIRE_TRUST_STATE } from './health.rules.ts';

const NOW_MS = 10_000;
const WINDOWS = { recommendedMs: 300, dueMs: 100, trustErrorMs: 50, stalenessMs: 200 };
const HEALTHY: HealthFacts = {
  revokedAtMs: null,
  notAfterMs: NOW_MS + 1_000,
  lastHeartbeatAtMs: NOW_MS,
  knownSinceMs: 0,
  streamOpen: false,
  reportedTrustState: 'trusted',
  trustState: 'trusted',
  lastTrustErrorAtMs: null,
  lastConnectionErrorAtMs: null,
};

type Row = [name: string, facts: Partial<HealthFacts>, health: string, ...because: string[]];
const ROWS: Row[] = [
  ['nothing is wrong', {}, 'healthy'],
  ['there is no certificate yet', { notAfterMs: null }, 'healthy'],
  ['revoked', { revokedAtMs: 1, notAfterMs: 0 }, 'revoked', 'revoked'],
  ['the end is now', { notAfterMs: NOW_MS }, 'renewal_due', 'certificate_expired'],
  ['one instant is left', { notAfterMs: NOW_MS + 1 }, 'renewal_due', 'certificate_due'],
  [
    'inside the wider window',
    { notAfterMs: NOW_MS + 300 },
    'renewal_recommended',
    'certificate_recommended',
  ],
  ['before the wider window', { notAfterMs: NOW_MS + 301 }, 'healthy'],
  [
    'a recent trust error',
    { lastTrustErrorAtMs: NOW_MS - 49 },
    'renewal_due',
    'trust_error_recent',
  ],
  ['an old trust error', { lastTrustErrorAtMs: NOW_MS - 50 }, 'healthy'],
  [
    'expired after a recent trust error',
    { notAfterMs: 0, lastTrustErrorAtMs: NOW_MS },
    'renewal_due',
    'certificate_expired',
    'trust_error_recent',
  ],
  ['silent for the window', { lastHeartbeatAtMs: NOW_MS - 200 }, 'degraded', 'heartbeat_stale'],
  ['silent for less', { lastHeartbeatAtMs: NOW_MS - 199 }, 'healthy'],
  ['silent with a stream', { lastHeartbeatAtMs: 0, streamOpen: true }, 'healthy'],
  ['never heard of', { lastHeartbeatAtMs: null }, 'degraded', 'heartbeat_stale'],
  [
    'never heard of and just known',
    { lastHeartbeatAtMs: null, knownSinceMs: NOW_MS - 199 },
    'healthy',
  ],
  ['nothing reported', { reportedTrustState: null }, 'healthy'],
  [
    'reported otherwise',
    { reportedTrustState: 'renewal_due' },
    'degraded',
    'trust_state_disagrees',
  ],
  [
    'a recent connection error',
    { lastConnectionErrorAtMs: NOW_MS - 49 },
    'degraded',
    'connection_error_recent',
  ],
  ['an old connection error', { lastConnectionErrorAtMs: NOW_MS - 50 }, 'healthy'],
  [
    'everything that degrades',
    {
      lastHeartbeatAtMs: 0,
      reportedTrustState: 'trust_revoked',
      lastConnectionErrorAtMs: NOW_MS,
    },
    'degraded',
    'heartbeat_stale',
    'trust_state_disagrees',
    'connection_error_recent',
  ],
];

describe('trustHealth', () => {
  it.each(ROWS)('should judge: %s', (_, facts, health, ...because) => {
    expect(trustHealth({ ...HEALTHY, ...facts }, WINDOWS, NOW_MS)).toEqual({ health, because });
  });

  it('should count no error that is absent as recent, even at the beginning of time', () => {
    const early = { ...HEALTHY, lastHeartbeatAtMs: 0, notAfterMs: 2_000 };
    expect(trustHealth(early, WINDOWS, 1).health).toBe('healthy');
  });

  it('should agree with a sensor that reports the state the Console sees', () => {
    for (const trustState of ['trusted', 'renewal_recommended', 'renewal_due'] as const) {
      const facts = { ...HEALTHY, trustState, reportedTrustState: trustState };
      expect(trustHealth(facts, WINDOWS, NOW_MS).health).toBe('healthy');
    }
    expect(WIRE_TRUST_STATE.revoked).toBe('trust_revoked');
  });
});
