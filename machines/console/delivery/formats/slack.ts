// `slack`: blocks. Text of others is plain text, which mentions nobody and links nowhere.
import type { Alert } from '../alert.ts';
import {
  type Format,
  linkOf,
  messageOf,
  mitreOf,
  searchFieldsOf,
  systemOf,
  telecomOf,
  timeOf,
  titleOf,
  workloadOf,
} from './format.ts';
import { cut, cutEscaped, forSlack, oneLine } from './text.ts';

const HEADER_MAX_CHARS = 150;
const TEXT_MAX_CHARS = 3_000;
const FIELD_MAX_CHARS = 2_000;
const LINK_MAX_CHARS = 2_500;

export const slack: Format = {
  needsSecret: false,
  isSigned: false,
  lay({ alert, at, targetUrl }) {
    const link = linkOf({ alert, at });
    const extra = extraOf(alert, at.relatedEventCount);
    return {
      url: targetUrl,
      headers: {},
      body: {
        text: cutEscaped(`${oneLine(titleOf(alert))}: ${alert.headline}`, TEXT_MAX_CHARS, forSlack),
        blocks: [
          { type: 'header', text: plain(oneLine(titleOf(alert)), HEADER_MAX_CHARS) },
          { type: 'section', fields: fieldsOf(alert).map(field) },
          { type: 'section', text: plain(messageOf(alert), TEXT_MAX_CHARS) },
          ...extra.map((one) => ({ type: 'section', fields: [field(one)] })),
          { type: 'context', elements: contextOf(timeOf(alert.occurredAtMs), link) },
        ],
      },
    };
  },
};

function fieldsOf(alert: Alert): readonly (readonly [string, string])[] {
  const { texts } = alert;
  if (alert.search !== null) return searchFieldsOf(alert);
  return [
    ['Sensor', alert.nodeName],
    ['Role', texts.declared_role ?? '-'],
    ['Event', texts.event_kind ?? alert.kind],
    ['Process', texts.process ?? '-'],
    ['Severity', alert.severity],
    ['OS', systemOf(alert) || '-'],
  ];
}

function extraOf(alert: Alert, related: number | null): readonly (readonly [string, string])[] {
  const fields = [
    ['MITRE', mitreOf(alert)],
    ['Tags', alert.tags.join(', ')],
    ['Parent', alert.texts.parent_executable ?? ''],
    ['Telecom Context', telecomOf(alert)],
    ['K8s Context', workloadOf(alert)],
    ['Related window', related === null ? '' : String(related)],
  ] as const;
  return fields.filter(([, value]) => value !== '');
}

function field([name, value]: readonly [string, string]) {
  return plain(`${name}: ${oneLine(value)}`, FIELD_MAX_CHARS);
}

function plain(text: string, maxChars: number) {
  // An empty text is refused.
  return { type: 'plain_text', text: cut(text === '' ? '-' : text, maxChars), emoji: false };
}

function contextOf(time: string, link: string) {
  const shown = { type: 'plain_text', text: time, emoji: false };
  if (link === '' || link.length > LINK_MAX_CHARS) return [shown];
  const address = link.replaceAll('|', '%7C').replaceAll('>', '%3E').replaceAll('<', '%3C');
  return [shown, { type: 'mrkdwn', text: `<${address.replaceAll('&', '&amp;')}|Open in Console>` }];
}
