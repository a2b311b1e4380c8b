import { describe, expect, it } from 'vitest';
import {
  type HealthFacts,
  type HealthReason,
  isSameBecause,
  trustHealth,
  WIRE_TRUST_STATE,
} from './health.rules.ts';

const NOW_MS = 10_000;
const WINDOWS = { recommendedMs: 300, dueMs: 100, trustErrorMs: 50, stalenessMs: 200 };
const HEALTHY: HealthFacts = {
  revokedAtMs: null,
  notAfterMs: NOW_MS + 1_000,
  lastHeartbeatAtMs: NOW_MS,
  knownSinceMs: 0,
  streamOpen: false,
  reportedTrustState: 'trusted',
  reportedSinceMs: 7,
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
    const judged = trustHealth({ ...HEALTHY, ...facts }, WINDOWS, NOW_MS);
    expect(judged.health).toBe(health);
    expect(judged.because.map(({ code }) => code)).toEqual(because);
  });

  it.each<[Partial<HealthFacts>, HealthReason]>([
    [{ revokedAtMs: 1 }, { code: 'revoked', sinceMs: 1, facts: { revoked_at: 1 } }],
    [
      { notAfterMs: NOW_MS - 5 },
      {
        ...{ code: 'certificate_expired', sinceMs: NOW_MS - 5 },
        facts: { certificate_expires_at: NOW_MS - 5 },
      },
    ],
    [
      { notAfterMs: NOW_MS + 60 },
      {
        ...{ code: 'certificate_due', sinceMs: NOW_MS - 40 },
        facts: { certificate_expires_at: NOW_MS + 60, window_seconds: 0.1 },
      },
    ],
    [
      { notAfterMs: NOW_MS + 200 },
      {
        ...{ code: 'certificate_recommended', sinceMs: NOW_MS - 100 },
        facts: { certificate_expires_at: NOW_MS + 200, window_seconds: 0.3 },
      },
    ],
    [
      { lastTrustErrorAtMs: NOW_MS - 9 },
      {
        ...{ code: 'trust_error_recent', sinceMs: NOW_MS - 9 },
        facts: { last_trust_error_at: NOW_MS - 9, window_seconds: 0.05 },
      },
    ],
    [
      { lastHeartbeatAtMs: NOW_MS - 300 },
      {
        ...{ code: 'heartbeat_stale', sinceMs: NOW_MS - 100 },
        facts: { last_heartbeat_at: NOW_MS - 300, window_seconds: 0.2, stream: 'closed' },
      },
    ],
    [
      { lastHeartbeatAtMs: null, knownSinceMs: 4 },
      {
        ...{ code: 'heartbeat_stale', sinceMs: 204 },
        facts: {
          ...{ last_heartbeat_at: null, known_since_at: 4 },
          ...{ window_seconds: 0.2, stream: 'closed' },
        },
      },
    ],
    [
      { reportedTrustState: 'renewal_due' },
      {
        ...{ code: 'trust_state_disagrees', sinceMs: 7 },
        facts: { reported_trust_state: 'renewal_due', console_trust_state: 'trusted' },
      },
    ],
    [
      { lastConnectionErrorAtMs: NOW_MS - 3 },
      {
        ...{ code: 'connection_error_recent', sinceMs: NOW_MS - 3 },
        facts: { last_connection_error_at: NOW_MS - 3, window_seconds: 0.05 },
      },
    ],
  ])('should tell since when and from what it concluded: %j', (facts, told) => {
    expect(trustHealth({ ...HEALTHY, ...facts }, WINDOWS, NOW_MS).because).toEqual([told]);
  });

  it('should hold what is reported against what the dates say at the very instant, and nothing else', () => {
    // The wider window opens in one millisecond; whoever has a timer for it may be a tick ahead.
    const ahead = { ...HEALTHY, notAfterMs: NOW_MS + WINDOWS.recommendedMs + 1 };
    expect(trustHealth(ahead, WINDOWS, NOW_MS).health).toBe('healthy');
    expect(trustHealth(ahead, WINDOWS, NOW_MS + 1).health).toBe('renewal_recommended');
    const reports = { ...ahead, reportedTrustState: 'renewal_recommended' } as const;
    expect(trustHealth(reports, WINDOWS, NOW_MS).health).toBe('degraded');
    expect(trustHealth(reports, WINDOWS, NOW_MS + 1).health).toBe('renewal_recommended');
  });

  it('should call lists the same only when codes, instants and facts are', () => {
    const at = (more: Partial<HealthFacts>) =>
      trustHealth({ ...HEALTHY, ...more }, WINDOWS, NOW_MS).because;
    const one = at({ lastTrustErrorAtMs: NOW_MS - 9 });
    expect(isSameBecause(one, at({ lastTrustErrorAtMs: NOW_MS - 9 }))).toBe(true);
    expect(isSameBecause(one, at({ lastTrustErrorAtMs: NOW_MS - 8 }))).toBe(false);
    expect(isSameBecause(one, [])).toBe(false);
    const reports = (state: HealthFacts['reportedTrustState']) => at({ reportedTrustState: state });
    expect(isSameBecause(reports('renewal_due'), reports('trust_revoked'))).toBe(false);
  });

  it('should count no error that is absent as recent, even at the beginning of time', () => {
    const early = { ...HEALTHY, lastHeartbeatAtMs: 0, notAfterMs: 2_000 };
    expect(trustHealth(early, WINDOWS, 1).health).toBe('healthy');
  });

  it('should have the word of the wire for what is revoked', () => {
    expect(WIRE_TRUST_STATE.revoked).toBe('trust_revoked');
  });
});
