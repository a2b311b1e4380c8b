// `discord`: a line and one embed. Text of others is escaped, and its mentions and addresses are broken.
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
import { cutEscaped, forDiscord, oneLine } from './text.ts';

const CONTENT_MAX_CHARS = 2_000;
const TITLE_MAX_CHARS = 256;
/** All of an embed may have 6,000 together. */
const DESCRIPTION_MAX_CHARS = 2_000;
const VALUE_MAX_CHARS = 250;
const COLOR = 15_548_997;
const MAIN: readonly Label[] = [
  ['Sensor', 'sensor'],
  ['Role', 'role'],
  ['Process', 'process'],
  ['Severity', 'severity'],
  ['OS', 'system'],
];
const FURTHER: readonly Label[] = [
  ['Parent Process', 'parent'],
  ['Telecom Context', 'telecom'],
  ['Tags', 'tags'],
  ['MITRE', 'mitre'],
  ['Related', 'related'],
  ['K8s', 'workload'],
];

export const discord: Format = {
  rank: 2,
  needsSecret: false,
  isSigned: false,
  lay({ alert, at, targetUrl }) {
    const link = linkOf({ alert, at });
    const title = alert.search === null ? (alert.texts.event_kind ?? alert.kind) : titleOf(alert);
    return {
      url: targetUrl,
      headers: {},
      body: {
        content: shown(`${titleOf(alert)}: ${alert.headline}`, CONTENT_MAX_CHARS),
        embeds: [
          {
            title: shown(title, TITLE_MAX_CHARS),
            description: cutEscaped(messageOf(alert), DESCRIPTION_MAX_CHARS, forDiscord),
            color: COLOR,
            fields: [
              ...mainFields({ alert, at }, MAIN).map((one) => field(one, true)),
              ...furtherFields({ alert, at }, FURTHER).map((one) => field(one, false)),
              // Our own, so that it is shown as it is.
              ...(link === '' ? [] : [{ name: 'Inbox URL', value: link, inline: false }]),
            ],
            timestamp: timeOf(alert.occurredAtMs),
            ...(link === '' ? {} : { url: link }),
          },
        ],
      },
    };
  },
};

function field([name, value]: Field, inline: boolean) {
  return { name, value: shown(value === '' ? '-' : value, VALUE_MAX_CHARS), inline };
}

function shown(text: string, maxChars: number): string {
  return cutEscaped(oneLine(text), maxChars, forDiscord);
}
