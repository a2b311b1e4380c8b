// `teams`: a message with one adaptive card. Its texts are Markdown, so text of others is escaped.
import {
  type Format,
  linkOf,
  messageOf,
  searchFieldsOf,
  telecomOf,
  titleOf,
  workloadOf,
} from './format.ts';
import { cutEscaped, forMarkdown, oneLine } from './text.ts';

const TITLE_MAX_CHARS = 256;
const TEXT_MAX_CHARS = 6_000;
const VALUE_MAX_CHARS = 1_000;

export const teams: Format = {
  rank: 3,
  needsSecret: false,
  isSigned: false,
  lay({ alert, at, targetUrl }) {
    const link = linkOf({ alert, at });
    const facts: readonly (readonly [string, string])[] = [
      ['Sensor', alert.nodeName],
      ['Severity', alert.severity],
      ...searchFieldsOf(alert),
      ['Process', alert.texts.process ?? ''],
      ['Workload', workloadOf(alert)],
      ['Telecom', telecomOf(alert)],
    ];
    const body = [
      {
        ...{ type: 'TextBlock', text: shown(titleOf(alert), TITLE_MAX_CHARS) },
        ...{ weight: 'Bolder', size: 'Medium', wrap: true },
      },
      {
        ...{ type: 'TextBlock', text: cutEscaped(messageOf(alert), TEXT_MAX_CHARS, forMarkdown) },
        wrap: true,
      },
      {
        type: 'FactSet',
        facts: [
          ...facts.flatMap(([title, value]) =>
            value === '' ? [] : [{ title, value: shown(value, VALUE_MAX_CHARS) }],
          ),
          ...(link === '' ? [] : [{ title: 'Link', value: `[Open in Console](${address(link)})` }]),
        ],
      },
    ];
    const content = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      ...{ type: 'AdaptiveCard', version: '1.2', body },
    };
    const contentType = 'application/vnd.microsoft.card.adaptive';
    return {
      url: targetUrl,
      headers: {},
      body: { type: 'message', attachments: [{ contentType, content }] },
    };
  },
};

function shown(text: string, maxChars: number): string {
  return cutEscaped(oneLine(text), maxChars, forMarkdown);
}

// Our own address, which may hold what ends a link.
function address(link: string): string {
  return link.replaceAll('(', '%28').replaceAll(')', '%29').replaceAll(' ', '%20');
}
