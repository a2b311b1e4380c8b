// `pagerduty`: Events API v2. The secret is the routing key.
import { PAGERDUTY_SUMMARY_MAX_CHARS } from '../../../limits.ts';
import type { AlertSeverity } from '../alert.ts';
import { type Format, incidentKeyOf, linkOf, messageOf, timeOf, titleOf } from './format.ts';
import { cut, oneLine } from './text.ts';

const SEVERITY: Readonly<Record<AlertSeverity, string>> = {
  ...{ critical: 'critical', high: 'error', medium: 'warning', low: 'info', info: 'info' },
};

export const pagerduty: Format = {
  rank: 4,
  needsSecret: true,
  isSigned: false,
  lay({ alert, at, targetUrl, secret }) {
    const { texts } = alert;
    const href = linkOf({ alert, at });
    const summary = `${titleOf(alert)}: ${alert.search === null ? alert.headline : messageOf(alert)}`;
    return {
      url: targetUrl,
      headers: {},
      body: {
        routing_key: secret,
        event_action: 'trigger',
        dedup_key: incidentKeyOf(alert),
        payload: {
          summary: cut(oneLine(summary), PAGERDUTY_SUMMARY_MAX_CHARS),
          severity: SEVERITY[alert.severity],
          source: alert.nodeName,
          timestamp: timeOf(alert.occurredAtMs),
          component: texts.event_kind ?? alert.kind,
          group: texts.declared_role ?? '',
          class: titleOf(alert),
          custom_details: {
            event_kind: texts.event_kind ?? alert.kind,
            process: texts.process ?? '',
            message: messageOf(alert),
            declared_role: texts.declared_role ?? '',
            is_contained: at.isContained,
            mitre_technique: texts.mitre_technique ?? '',
          },
        },
        links: href === '' ? [] : [{ href, text: 'Open in Console' }],
      },
    };
  },
};
