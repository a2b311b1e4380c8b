// `generic`: our own JSON, signed where a secret is set.
import { type Alert, type AlertSeverity, type AtDelivery, OPTIONAL_TEXTS } from '../alert.ts';
import { type Format, timeOf } from './format.ts';

const VERSION = '1';
const SEVERITY: Readonly<Record<AlertSeverity, string>> = {
  ...{ info: 'info', low: 'info', medium: 'warning', high: 'high', critical: 'critical' },
};

export const generic: Format = {
  rank: 0,
  needsSecret: false,
  isSigned: true,
  lay: ({ alert, at, targetUrl }) => ({
    url: targetUrl,
    headers: {},
    body: alert.search === null ? alertBody(alert, at) : searchBody(alert),
  }),
};

function alertBody(alert: Alert, at: AtDelivery): Readonly<Record<string, unknown>> {
  const isTest = alert.kind === 'test_delivery';
  const texts = OPTIONAL_TEXTS.flatMap((name) => {
    const text = alert.texts[name];
    return text === undefined ? [] : [[name, text] as const];
  });
  return {
    version: VERSION,
    alert_kind: alert.kind,
    severity: SEVERITY[alert.severity],
    sensor_id: alert.sensorId,
    node_name: alert.nodeName,
    trust_health: at.trustHealth,
    headline: alert.headline,
    detail: alert.detail,
    occurred_at: timeOf(isTest ? at.deliveredAtMs : alert.occurredAtMs),
    delivered_at: timeOf(at.deliveredAtMs),
    source: alert.source,
    is_contained: at.isContained,
    alert_inbox_url: isTest ? '' : at.inboxUrl,
    ...Object.fromEntries(texts),
    ...(alert.observedAtMs === null ? {} : { observed_at: timeOf(alert.observedAtMs) }),
    ...(alert.tags.length === 0 ? {} : { tags: alert.tags }),
    ...(alert.groupIds.length === 0 ? {} : { group_ids: alert.groupIds }),
    ...(at.relatedEventCount === null ? {} : { related_event_count: at.relatedEventCount }),
  };
}

function searchBody({ search, occurredAtMs }: Alert): Readonly<Record<string, unknown>> {
  return {
    version: VERSION,
    alert_kind: 'saved_search_match',
    search_id: search?.searchId,
    search_name: search?.searchName,
    match_count: search?.matchCount,
    window_secs: search?.windowSecs,
    threshold: search?.threshold,
    triggered_at: timeOf(occurredAtMs),
    event_search_url: search?.eventSearchUrl,
  };
}
