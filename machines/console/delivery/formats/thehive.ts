// `thehive`: an alert of its case management, made below the target's address. The secret is a bearer token.
import { CASE_TITLE_MAX_CHARS } from '../../../limits.ts';
import type { AlertSeverity } from '../alert.ts';
import { type Format, incidentKeyOf, linkOf, messageOf, timeOf, titleOf } from './format.ts';
import { cut, cutEscaped, forMarkdown, oneLine } from './text.ts';

const PATH = '/api/v1/alert';
const TEXT_MAX_CHARS = 15_000;
const SEVERITY: Readonly<Record<AlertSeverity, number>> = {
  ...{ critical: 4, high: 3, medium: 2, low: 1, info: 1 },
};

export const thehive: Format = {
  rank: 6,
  needsSecret: true,
  isSigned: false,
  lay({ alert, at, targetUrl, secret }) {
    const eventKind = alert.texts.event_kind ?? alert.kind;
    const link = linkOf({ alert, at });
    const lines: readonly (readonly [string, string])[] = [
      ['Rule', shown(titleOf(alert))],
      ['Sensor', shown(alert.nodeName)],
      ['Event kind', shown(eventKind)],
      ['Severity', alert.severity],
      ['Message', shown(messageOf(alert))],
      ['Observed', timeOf(alert.observedAtMs ?? alert.occurredAtMs)],
      ...(link === '' ? [] : [['Inbox', `[Open in Console](${address(link)})`] as const]),
    ];
    return {
      url: `${targetUrl.replace(/\/+$/, '')}${PATH}`,
      headers: { authorization: `Bearer ${secret ?? ''}` },
      body: {
        type: 'service-alert',
        source: 'service',
        sourceRef: incidentKeyOf(alert),
        title: cut(oneLine(`${titleOf(alert)}: ${alert.headline}`), CASE_TITLE_MAX_CHARS),
        description: lines.map(([name, value]) => `- **${name}**: ${value}`).join('\n'),
        severity: SEVERITY[alert.severity],
        date: alert.occurredAtMs,
        tags: ['service', eventKind, alert.severity],
        tlp: 1,
        pap: 1,
      },
    };
  },
};

function shown(text: string): string {
  return cutEscaped(oneLine(text), TEXT_MAX_CHARS, forMarkdown);
}

function address(link: string): string {
  return link.replaceAll('(', '%28').replaceAll(')', '%29').replaceAll(' ', '%20');
}
