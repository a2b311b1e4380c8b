// Every format beside the specification's tables: each optional field present and absent, every severity, every bound at
// its edge, and text of others that mentions, marks up and links nothing.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../../../props/any-character.ts';
import {
  CASE_TITLE_MAX_CHARS,
  OPSGENIE_DESCRIPTION_MAX_CHARS,
  OPSGENIE_MESSAGE_MAX_CHARS,
  PAGERDUTY_SUMMARY_MAX_CHARS,
} from '../../../limits.ts';
import {
  ALERT_SEVERITIES,
  type Alert,
  type AtDelivery,
  OPTIONAL_TEXTS,
  type SearchMatch,
} from '../alert.ts';
import { FORMATS, WEBHOOK_TYPES, type WebhookType } from './formats.ts';
import { cut, cutEscaped, forDiscord, forMarkdown, forSlack } from './text.ts';

const AT_MS = Date.parse('2026-03-04T05:06:07.890Z');
const TIME = '2026-03-04T05:06:07.890Z';
const at: AtDelivery = {
  ...{ deliveredAtMs: AT_MS + 1_000, trustHealth: 'degraded', isContained: true },
  ...{ inboxUrl: 'https://console.example.org/alerts/1', relatedEventCount: null },
};
const plain: Alert = {
  ...{ alertId: '1', kind: 'security_event', severity: 'high', ruleId: 'r1', sensorId: 's1' },
  ...{ nodeName: 'node-1', headline: 'a head', detail: 'a detail', occurredAtMs: AT_MS },
  ...{ observedAtMs: null, source: 'security_event', dedupKey: 'k', texts: {}, tags: [] },
  ...{ groupIds: [], relatedEventCount: null, search: null },
};
const texts = Object.fromEntries(OPTIONAL_TEXTS.map((name) => [name, `the ${name}`]));
const full: Alert = { ...plain, texts, tags: ['t1', 't2'], groupIds: ['g1'], observedAtMs: AT_MS };
const search: SearchMatch = {
  ...{ searchId: 'q1', searchName: 'a search', matchCount: 7, windowSecs: 300, threshold: 5 },
  eventSearchUrl: 'https://console.example.org/events?search=q1',
};

type Json = Readonly<Record<string, unknown>>;
function lay(type: WebhookType, alert: Alert, more: Partial<AtDelivery> = {}) {
  const told = { alert, at: { ...at, ...more }, targetUrl: 'https://hook/', secret: 'the-secret' };
  return FORMATS[type].lay(told);
}
const bodyOf = (...of: Parameters<typeof lay>) =>
  JSON.parse(JSON.stringify(lay(...of).body)) as Json;

describe('the generic payload', () => {
  const always = {
    ...{ version: '1', alert_kind: 'security_event', severity: 'high', sensor_id: 's1' },
    ...{ node_name: 'node-1', trust_health: 'degraded', headline: 'a head', detail: 'a detail' },
    ...{ occurred_at: TIME, delivered_at: '2026-03-04T05:06:08.890Z', source: 'security_event' },
    ...{ is_contained: true, alert_inbox_url: 'https://console.example.org/alerts/1' },
  };

  it('should hold exactly what is always there when nothing else is known', () => {
    expect(bodyOf('generic', plain)).toEqual(always);
  });

  it('should hold every optional field that is known, alone and together', () => {
    for (const name of OPTIONAL_TEXTS) {
      const one = { ...plain, texts: { [name]: 'x' } };
      expect(bodyOf('generic', one)).toEqual({ ...always, [name]: 'x' });
    }
    expect(bodyOf('generic', full, { relatedEventCount: 3 })).toEqual({
      ...{ ...always, ...texts, tags: ['t1', 't2'], group_ids: ['g1'] },
      ...{ observed_at: TIME, related_event_count: 3 },
    });
  });

  it('should hold a saved search in its own envelope', () => {
    expect(bodyOf('generic', { ...plain, kind: 'saved_search_match', search })).toEqual({
      ...{ version: '1', alert_kind: 'saved_search_match', search_id: 'q1' },
      ...{ search_name: 'a search', match_count: 7, window_secs: 300, threshold: 5 },
      ...{ triggered_at: TIME, event_search_url: search.eventSearchUrl },
    });
  });
});

describe('severities', () => {
  it.each([
    ['generic', ['info', 'info', 'warning', 'high', 'critical']],
    ['pagerduty', ['info', 'info', 'warning', 'error', 'critical']],
    ['opsgenie', ['P5', 'P4', 'P3', 'P2', 'P1']],
    ['thehive', [1, 1, 2, 3, 4]],
  ] as const)('should be those of %s', (type, expected) => {
    const said = ALERT_SEVERITIES.map((severity) => {
      const body = bodyOf(type, { ...plain, severity });
      if (type === 'pagerduty') return (body['payload'] as Json)['severity'];
      return type === 'opsgenie' ? body['priority'] : body['severity'];
    });
    expect(said).toEqual(expected);
  });
});

describe('shapes', () => {
  it('should be that of PagerDuty', () => {
    expect(bodyOf('pagerduty', full)).toEqual({
      ...{ routing_key: 'the-secret', event_action: 'trigger', dedup_key: 'service-r1-s1' },
      payload: {
        ...{ summary: 'the rule_name: a head', severity: 'error', source: 'node-1' },
        ...{ timestamp: TIME, component: 'the event_kind', group: 'the declared_role' },
        class: 'the rule_name',
        custom_details: {
          ...{ event_kind: 'the event_kind', process: 'the process', message: 'the message' },
          ...{ declared_role: 'the declared_role', is_contained: true },
          mitre_technique: 'the mitre_technique',
        },
      },
      links: [{ href: at.inboxUrl, text: 'Open in Console' }],
    });
  });

  it('should be that of OpsGenie', () => {
    expect(lay('opsgenie', full).headers).toEqual({ authorization: 'GenieKey the-secret' });
    expect(bodyOf('opsgenie', full)).toEqual({
      ...{ message: 'the rule_name: a head', description: 'the message', alias: 'service-r1-s1' },
      ...{ responders: [], visibleTo: [], priority: 'P2', source: expect.any(String) },
      tags: ['the event_kind', 'high', 'service', 't1', 't2', 'the telecom_protocol_family'],
      details: {
        ...{ event_kind: 'the event_kind', process: 'the process', is_contained: 'true' },
        declared_role: 'the declared_role',
      },
      ...{ entity: 'node-1', actions: ['Acknowledge', 'Close'] },
    });
    expect(bodyOf('opsgenie', plain)['tags']).toEqual(['security_event', 'high', 'service']);
  });

  it('should be that of TheHive, below the path of its API', () => {
    const { url, headers } = lay('thehive', full);
    expect([url, headers]).toEqual([
      'https://hook/api/v1/alert',
      { authorization: 'Bearer the-secret' },
    ]);
    expect(bodyOf('thehive', full)).toEqual({
      ...{ type: 'service-alert', source: 'service', sourceRef: 'service-r1-s1' },
      ...{ title: 'the rule_name: a head', description: expect.any(String), severity: 3 },
      ...{ date: AT_MS, tags: ['service', 'the event_kind', 'high'], tlp: 1, pap: 1 },
    });
    const text = String(bodyOf('thehive', full)['description']);
    for (const word of ['node\\-1', 'high', 'the message', TIME, at.inboxUrl]) {
      expect(text).toContain(word);
    }
  });

  it('should be that of Slack', () => {
    const body = bodyOf('slack', plain);
    const blocks = body['blocks'] as readonly Json[];
    expect(Object.keys(body)).toEqual(['text', 'blocks']);
    expect(blocks.map(({ type }) => type)).toEqual(['header', 'section', 'section', 'context']);
    const namesOf = (block: Json | undefined) =>
      ((block?.['fields'] ?? []) as readonly { text: string }[]).map(({ text }) =>
        text.slice(0, text.indexOf(':')),
      );
    expect(namesOf(blocks[1])).toEqual(['Sensor', 'Role', 'Event', 'Process', 'Severity', 'OS']);
    const more = bodyOf('slack', full, { relatedEventCount: 2 })['blocks'] as readonly Json[];
    expect(more.slice(3, -1).flatMap(namesOf)).toEqual([
      ...['MITRE', 'Tags', 'Parent', 'Telecom Context', 'K8s Context', 'Related window'],
    ]);
    expect(JSON.stringify(more.at(-1))).toContain('|Open in Console>');
  });

  it('should be that of Discord', () => {
    const body = bodyOf('discord', full, { relatedEventCount: 2 });
    expect(Object.keys(body)).toEqual(['content', 'embeds']);
    const [embed] = body['embeds'] as readonly (Json & { fields: readonly Json[] })[];
    expect(embed).toMatchObject({ color: 15_548_997, timestamp: TIME, url: at.inboxUrl });
    expect(embed?.fields.map(({ name, inline }) => [name, inline])).toEqual([
      ...['Sensor', 'Role', 'Process', 'Severity', 'OS'].map((name) => [name, true]),
      ...['Parent Process', 'Telecom Context', 'Tags', 'MITRE', 'Related', 'K8s', 'Inbox URL'].map(
        (name) => [name, false],
      ),
    ]);
    const [small] = bodyOf('discord', plain)['embeds'] as readonly { fields: readonly Json[] }[];
    expect(small?.fields).toHaveLength(6);
  });

  it('should be that of Teams', () => {
    const body = bodyOf('teams', full);
    expect(body['type']).toBe('message');
    const [attachment] = body['attachments'] as readonly (Json & { content: Json })[];
    expect(attachment?.['contentType']).toBe('application/vnd.microsoft.card.adaptive');
    expect(attachment?.content).toMatchObject({ type: 'AdaptiveCard', version: '1.2' });
    const [title, text, set] = (attachment?.content['body'] ?? []) as readonly Json[];
    expect([title?.['weight'], text?.['type'], set?.['type']]).toEqual([
      ...['Bolder', 'TextBlock', 'FactSet'],
    ]);
    const names = ((set?.['facts'] ?? []) as readonly Json[]).map((fact) => fact['title']);
    expect(names).toEqual(['Sensor', 'Severity', 'Process', 'Workload', 'Telecom', 'Link']);
  });

  it('should tell a saved search in every format', () => {
    for (const type of WEBHOOK_TYPES) {
      const text = JSON.stringify(
        bodyOf(type, { ...plain, search, ruleId: 'q1', sensorId: 'fleet' }),
      );
      expect(text).toContain('a search');
      if (type === 'generic') continue;
      expect(text.replaceAll('\\', '')).toMatch(/7 matches in 300 s \(threshold 5\)|Matches/);
    }
  });
});

describe('bounds', () => {
  const fill = '😀';
  const withHead = (chars: number): Alert => ({ ...plain, headline: fill.repeat(chars) });
  const chars = (text: unknown) => [...String(text)].length;
  it.each([
    [
      'pagerduty summary',
      PAGERDUTY_SUMMARY_MAX_CHARS,
      (one: Alert) => (bodyOf('pagerduty', one)['payload'] as Json)['summary'],
    ],
    [
      'opsgenie message',
      OPSGENIE_MESSAGE_MAX_CHARS,
      (one: Alert) => bodyOf('opsgenie', one)['message'],
    ],
    ['case title', CASE_TITLE_MAX_CHARS, (one: Alert) => bodyOf('thehive', one)['title']],
  ] as const)('should cut the %s by characters, at its edge', (_name, max, read) => {
    // The rule's name stands before it, or the head itself: `head: head`.
    const named = (length: number): Alert => ({ ...withHead(length), texts: { rule_name: 'r' } });
    const fits = max - 'r: '.length;
    expect(read(named(fits))).toBe(`r: ${fill.repeat(fits)}`);
    const over = read(named(fits + 1));
    expect(chars(over)).toBe(max);
    expect(over).toBe(`r: ${fill.repeat(fits - 1)}…`);
  });

  it('should cut the OpsGenie description by characters', () => {
    const of = (length: number) =>
      bodyOf('opsgenie', { ...plain, detail: fill.repeat(length) })['description'];
    expect(of(OPSGENIE_DESCRIPTION_MAX_CHARS)).toBe(fill.repeat(OPSGENIE_DESCRIPTION_MAX_CHARS));
    expect(chars(of(OPSGENIE_DESCRIPTION_MAX_CHARS + 1))).toBe(OPSGENIE_DESCRIPTION_MAX_CHARS);
  });

  it('should never cut half a character or half an escape', () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 60 });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 40 }), (one, max) => {
        expect(cut(one, max).isWellFormed()).toBe(true);
        expect(chars(cut(one, max))).toBeLessThanOrEqual(max);
        for (const escaped of [forSlack, forMarkdown, forDiscord]) {
          const said = cutEscaped(one, max, escaped);
          expect(said.isWellFormed()).toBe(true);
          expect(chars(said)).toBeLessThanOrEqual(max);
          const whole = [...one.toWellFormed()].map(escaped).join('');
          const kept = said === whole ? whole : said.slice(0, -1);
          expect(whole.startsWith(kept)).toBe(true);
          // What is kept ends where an escape ends.
          const ends = new Set<number>([0]);
          let length = 0;
          for (const char of one.toWellFormed()) {
            length += escaped(char).length;
            ends.add(length);
          }
          expect(ends.has(kept.length)).toBe(true);
        }
      }),
    );
  });
});

describe('text of others', () => {
  const evil = '<!channel> <@U1> @everyone [x](https://evil.example) https://evil.example *b* `c`';
  const alert: Alert = {
    ...{ ...plain, headline: evil, detail: evil, nodeName: evil },
    texts: { rule_name: evil, message: evil, process: evil, event_kind: evil },
  };

  it('should mention and link nothing in Slack', () => {
    const { text, blocks } = bodyOf('slack', alert) as { text: string; blocks: readonly Json[] };
    expect(text).not.toMatch(/<[!@]/);
    const marked = JSON.stringify(blocks).match(/\{"type":"mrkdwn","text":"[^"]*"/g) ?? [];
    expect(marked).toHaveLength(1);
    expect(marked.join('')).not.toContain('evil');
  });

  it('should mention and link nothing in Discord', () => {
    const text = JSON.stringify(bodyOf('discord', alert));
    expect(text).not.toMatch(/@everyone|<@U1|evil\.example\)|https:\/\/evil/);
  });

  it('should mark up and link nothing in Teams and TheHive', () => {
    for (const text of [
      JSON.stringify(bodyOf('teams', alert)),
      String(bodyOf('thehive', alert)['description']),
    ]) {
      expect(text).not.toMatch(/[^\\]\]\(https:\/\/evil|https:\/\/evil|[^\\]`c/);
    }
  });
});
