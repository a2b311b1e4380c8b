import type { TrustHealth } from '../../../machines/wire/heartbeat.ts';

export const DESIGN_TEXTS = {
  copy: 'Copy',
  copied: 'Copied',
  retry: 'Try again',
  requestId: 'Request',
  clearFilters: 'Clear filters',
  never: 'never',
  now: 'now',
  loading: 'Loading',
  loadingMore: 'Loading more',
  end: (count: string) => `All ${count} shown`,
  sortBy: (name: string) => `Sort by ${name}`,
  why: (health: string) => `${health}. Why`,
  since: 'Since',
  next: 'Next',
  noReasons: 'Nothing speaks against it.',
  unknown: 'Unknown',
} as const;

export const HEALTH_WORDS: Readonly<Record<TrustHealth, string>> = {
  healthy: 'Healthy',
  renewal_recommended: 'Renewal recommended',
  renewal_due: 'Renewal due',
  degraded: 'Degraded',
  revoked: 'Revoked',
};
