// `slack`: blocks. Text of others is plain text, which mentions nobody and links nowhere.
import {
  type Field,
  type Format,
  furtherFields,
  type Label,
  linkOf,
  mainFields,
  messageOf,
  timeOf,
  titleOf,
} from './format.ts';
import { cut, cutEscaped, forSlack, oneLine } from './text.ts';

const HEADER_MAX_CHARS = 150;
const TEXT_MAX_CHARS = 3_000;
const FIELD_MAX_CHARS = 2_000;
const LINK_MAX_CHARS = 2_500;
const MAIN: readonly Label[] = [
  ['Sensor', 'sensor'],
  ['Role', 'role'],
  ['Event', 'event'],
  ['Process', 'process'],
  ['Severity', 'severity'],
  ['OS', 'system'],
];
const FURTHER: readonly Label[] = [
  ['MITRE', 'mitre'],
  ['Tags', 'tags'],
  ['Parent', 'parent'],
  ['Telecom Context', 'telecom'],
  ['K8s Context', 'workload'],
  ['Related window', 'related'],
];

export const slack: Format = {
  rank: 1,
  needsSecret: false,
  isSigned: false,
  lay({ alert, at, targetUrl }) {
    const link = linkOf({ alert, at });
    const extra = furtherFields({ alert, at }, FURTHER);
    return {
      url: targetUrl,
      headers: {},
      body: {
        text: cutEscaped(`${oneLine(titleOf(alert))}: ${alert.headline}`, TEXT_MAX_CHARS, forSlack),
        blocks: [
          { type: 'header', text: plain(oneLine(titleOf(alert)), HEADER_MAX_CHARS) },
          { type: 'section', fields: mainFields({ alert, at }, MAIN).map(field) },
          { type: 'section', text: plain(messageOf(alert), TEXT_MAX_CHARS) },
          ...extra.map((one) => ({ type: 'section', fields: [field(one)] })),
          { type: 'context', elements: contextOf(timeOf(alert.occurredAtMs), link) },
        ],
      },
    };
  },
};

function field([name, value]: Field) {
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
