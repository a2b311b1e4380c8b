// What the moves of a sensor mean as alerts. A mark holds what was told last of a sensor; the difference between the mark
// and what is true now is what has to be told. Mark and alerts are written together, so a crash tells nothing twice and
// leaves nothing out. decision: D103
import type { TrustRegionState } from '../../trust/health.rules.ts';
import type { AlertKind, AlertSeverity, AlertSource } from './alert.ts';

/** What is told of a sensor: the states people wait for. */
export type SensorMark = {
  readonly trust: TrustRegionState;
  readonly isExpired: boolean;
  readonly notAfterMs: number | null;
  readonly isStale: boolean;
  /** The order that the node's word is about. */
  readonly orderId: string | null;
  readonly containment: 'released' | 'contained' | 'failed';
};
export const UNMARKED: SensorMark = {
  ...{ trust: 'trusted', isExpired: false, notAfterMs: null, isStale: false },
  ...{ orderId: null, containment: 'released' },
};

export type SensorNews = {
  readonly kind: AlertKind;
  readonly severity: AlertSeverity;
  readonly source: AlertSource;
  readonly headline: string;
  readonly detail: string;
};

/** What has to be told, in the order in which it is told. */
export function newsOf(mark: SensorMark, now: SensorMark, nodeName: string): readonly SensorNews[] {
  if (mark.trust === 'revoked') return [];
  if (now.trust === 'revoked') return [revoked(nodeName), ...containmentNews(mark, now, nodeName)];
  return [
    ...certificateNews(mark, now, nodeName),
    ...(now.isStale && !mark.isStale ? [stale(nodeName)] : []),
    ...containmentNews(mark, now, nodeName),
  ];
}

/** What was told before and is over now. */
export function passedOf(mark: SensorMark, now: SensorMark): readonly AlertKind[] {
  const windows = ['certificate_renewal_recommended', 'certificate_renewal_due'] as const;
  const isRenewed =
    mark.notAfterMs !== null && now.notAfterMs !== null && now.notAfterMs > mark.notAfterMs;
  const isRevoked = now.trust === 'revoked' && mark.trust !== 'revoked';
  return [
    ...(isRenewed || isRevoked ? [...windows, 'certificate_expired' as const] : []),
    ...((mark.isStale && !now.isStale) || isRevoked ? ['sensor_stale' as const] : []),
  ];
}

/** Whether a mark says what is true. */
export function isSameMark(a: SensorMark, b: SensorMark): boolean {
  return (
    a.trust === b.trust &&
    a.isExpired === b.isExpired &&
    a.notAfterMs === b.notAfterMs &&
    a.isStale === b.isStale &&
    a.orderId === b.orderId &&
    a.containment === b.containment
  );
}

function certificateNews(
  mark: SensorMark,
  now: SensorMark,
  nodeName: string,
): readonly SensorNews[] {
  const isRenewed =
    mark.notAfterMs !== null && now.notAfterMs !== null && now.notAfterMs > mark.notAfterMs;
  const until =
    now.notAfterMs === null ? '' : ` It ends at ${new Date(now.notAfterMs).toISOString()}.`;
  const news: SensorNews[] = [];
  if (isRenewed) {
    news.push({
      ...{ kind: 'certificate_renewed', severity: 'info', source: 'trust' },
      headline: `The certificate of ${nodeName} was renewed`,
      detail: `The sensor has a new client certificate.${until}`,
    });
  }
  // After a renewal everything begins anew.
  const before = isRenewed ? { ...mark, trust: 'trusted', isExpired: false } : mark;
  if (now.isExpired) return before.isExpired ? news : [...news, expired(nodeName, until)];
  if (now.trust === before.trust) return news;
  if (now.trust === 'renewal_due') {
    news.push({
      ...{ kind: 'certificate_renewal_due', severity: 'high', source: 'trust' },
      headline: `The certificate of ${nodeName} has to be renewed now`,
      detail: `The sensor is inside the window in which its renewal is due.${until}`,
    });
  } else if (now.trust === 'renewal_recommended' && before.trust === 'trusted') {
    news.push({
      ...{ kind: 'certificate_renewal_recommended', severity: 'info', source: 'trust' },
      headline: `The certificate of ${nodeName} should be renewed`,
      detail: `The sensor renews its certificate by itself.${until}`,
    });
  }
  return news;
}

function expired(nodeName: string, until: string): SensorNews {
  return {
    ...{ kind: 'certificate_expired', severity: 'critical', source: 'trust' },
    headline: `The certificate of ${nodeName} has expired`,
    detail: `The sensor is refused until it is enrolled again.${until.replace('ends', 'ended')}`,
  };
}

function revoked(nodeName: string): SensorNews {
  return {
    ...{ kind: 'sensor_revoked', severity: 'critical', source: 'trust' },
    headline: `The sensor on ${nodeName} was revoked`,
    detail: 'Its identity is refused from now on, and nothing brings it back.',
  };
}

function stale(nodeName: string): SensorNews {
  return {
    ...{ kind: 'sensor_stale', severity: 'high', source: 'coverage' },
    headline: `The sensor on ${nodeName} is silent`,
    detail: 'No heartbeat came within the window, and no stream is open.',
  };
}

function containmentNews(
  mark: SensorMark,
  now: SensorMark,
  nodeName: string,
): readonly SensorNews[] {
  if (mark.containment === now.containment && mark.orderId === now.orderId) return [];
  const how = { kind: 'containment_changed', source: 'policy' } as const;
  if (now.containment === 'contained') {
    const headline = `${nodeName} is contained`;
    const detail = 'By its own word the node is cut off from everything but the Console.';
    return [{ ...how, severity: 'high', headline, detail }];
  }
  if (now.containment === 'failed') {
    const headline = `${nodeName} could not carry out its containment order`;
    const detail = 'The node said that the order failed; the page of the sensor tells why.';
    return [{ ...how, severity: 'critical', headline, detail }];
  }
  const headline = `${nodeName} is released`;
  const detail = 'By its own word the node is cut off no more.';
  return [{ ...how, severity: 'medium', headline, detail }];
}
