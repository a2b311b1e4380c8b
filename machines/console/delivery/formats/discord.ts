// `discord`: a line and one embed. Text of others is escaped, and its mentions and addresses are broken.
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
import { cutEscaped, forDiscord, oneLine } from './text.ts';

const CONTENT_MAX_CHARS = 2_000;
const TITLE_MAX_CHARS = 256;
/** All of an embed may have 6,000 together. */
const DESCRIPTION_MAX_CHARS = 2_000;
const VALUE_MAX_CHARS = 250;
const COLOR = 15_548_997;

export const discord: Format = {
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
              ...fieldsOf(alert).map((one) => field(one, true)),
              ...extraOf(alert, at.relatedEventCount, link).map((one) => field(one, false)),
            ],
            timestamp: timeOf(alert.occurredAtMs),
            ...(link === '' ? {} : { url: link }),
          },
        ],
      },
    };
  },
};

function fieldsOf(alert: Alert): readonly (readonly [string, string])[] {
  if (alert.search !== null) return searchFieldsOf(alert);
  return [
    ['Sensor', alert.nodeName],
    ['Role', alert.texts.declared_role ?? '-'],
    ['Process', alert.texts.process ?? '-'],
    ['Severity', alert.severity],
    ['OS', systemOf(alert) || '-'],
  ];
}

function extraOf(
  alert: Alert,
  related: number | null,
  link: string,
): readonly (readonly [string, string, isOurs?: boolean])[] {
  const fields = [
    ['Parent Process', alert.texts.parent_executable ?? ''],
    ['Telecom Context', telecomOf(alert)],
    ['Tags', alert.tags.join(', ')],
    ['MITRE', mitreOf(alert)],
    ['Related', related === null ? '' : String(related)],
    ['K8s', workloadOf(alert)],
    ['Inbox URL', link, true],
  ] as const;
  return fields.filter(([, value]) => value !== '');
}

function field([name, value, isOurs]: readonly [string, string, boolean?], inline: boolean) {
  const text = isOurs === true ? value : shown(value === '' ? '-' : value, VALUE_MAX_CHARS);
  return { name, value: text, inline };
}

function shown(text: string, maxChars: number): string {
  return cutEscaped(oneLine(text), maxChars, forDiscord);
}
