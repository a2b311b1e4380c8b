// `opsgenie`: an alert of its API. The secret is the GenieKey.
import { OPSGENIE_DESCRIPTION_MAX_CHARS, OPSGENIE_MESSAGE_MAX_CHARS } from '../../../limits.ts';
import type { AlertSeverity } from '../alert.ts';
import { type Format, incidentKeyOf, messageOf, titleOf } from './format.ts';
import { cut, oneLine } from './text.ts';

const SOURCE = 'Fleet Runtime Security';
const PRIORITY: Readonly<Record<AlertSeverity, string>> = {
  ...{ critical: 'P1', high: 'P2', medium: 'P3', low: 'P4', info: 'P5' },
};

export const opsgenie: Format = {
  rank: 5,
  needsSecret: true,
  isSigned: false,
  lay({ alert, at, targetUrl, secret }) {
    const { texts } = alert;
    const eventKind = texts.event_kind ?? alert.kind;
    const { telecom_protocol_family: family } = texts;
    return {
      url: targetUrl,
      headers: { authorization: `GenieKey ${secret ?? ''}` },
      body: {
        message: cut(oneLine(`${titleOf(alert)}: ${alert.headline}`), OPSGENIE_MESSAGE_MAX_CHARS),
        description: cut(messageOf(alert), OPSGENIE_DESCRIPTION_MAX_CHARS),
        alias: incidentKeyOf(alert),
        responders: [],
        visibleTo: [],
        tags: [
          ...[eventKind, alert.severity, 'service', ...alert.tags],
          ...(family === undefined ? [] : [family]),
        ],
        details: {
          event_kind: eventKind,
          process: texts.process ?? '',
          declared_role: texts.declared_role ?? '',
          is_contained: String(at.isContained),
        },
        priority: PRIORITY[alert.severity],
        source: SOURCE,
        entity: alert.nodeName,
        actions: ['Acknowledge', 'Close'],
      },
    };
  },
};
