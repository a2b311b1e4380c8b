// The two incident systems, with text of attackers in every field: it stays text in the place that is meant for it. It opens no
// line, names no responder, makes no link and no other incident, and is cut between characters. What their fields are is in
// `formats.test.ts`.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  OPSGENIE_DESCRIPTION_MAX_CHARS,
  OPSGENIE_MESSAGE_MAX_CHARS,
  PAGERDUTY_SUMMARY_MAX_CHARS,
} from '../../../limits.ts';
import { ALERT_SEVERITIES, type Alert, OPTIONAL_TEXTS } from '../alert.ts';
import { FORMATS } from './formats.ts';

const INBOX = 'https://console.example.org/alerts/1';
const AT_MS = Date.parse('2026-03-04T05:06:07.890Z');
const at = {
  ...{ deliveredAtMs: AT_MS, trustHealth: 'healthy', isContained: false },
  ...{ inboxUrl: INBOX, relatedEventCount: null },
} as const;
const nasty = fc.oneof(
  fc.constantFrom(
    ...['"},"event_action":"resolve', 'https://evil.example/?a', '<a href="https://evil.example">'],
    ...['[x](https://evil.example)', '@everyone', 'a\r\nb', '\u2028', '\u0000', '\ud83d\ude00'],
    ...['{{alias}}', '${x}', '\u202egnp.exe', 'x'.repeat(20_000), '\ud83d\ude00'.repeat(9_000)],
  ),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
);
const alert: fc.Arbitrary<Alert> = fc
  .record({
    severity: fc.constantFrom(...ALERT_SEVERITIES),
    ...{ nodeName: nasty, headline: nasty, detail: nasty, tags: fc.array(nasty, { maxLength: 4 }) },
    texts: fc.dictionary(fc.constantFrom(...OPTIONAL_TEXTS), nasty),
  })
  .map((own) => ({
    ...{ alertId: '1', kind: 'security_event', ruleId: 'r1', sensorId: 's1' },
    ...{ occurredAtMs: AT_MS, observedAtMs: null, source: 'security_event', dedupKey: 'k' },
    ...{ groupIds: [], relatedEventCount: null, search: null, ...own },
  }));
const laid = (type: 'pagerduty' | 'opsgenie', of: Alert) => {
  const made = FORMATS[type].lay({ alert: of, at, targetUrl: 'https://hook/', secret: 'key' });
  // As it is read by who receives it.
  const text = JSON.stringify(made.body);
  return { ...made, text, body: JSON.parse(text) as Record<string, unknown> };
};
const plain: Alert = {
  ...{ alertId: '1', kind: 'security_event', severity: 'high', ruleId: 'r1', sensorId: 's1' },
  ...{ nodeName: 'n', headline: 'h', detail: 'd', occurredAtMs: AT_MS, observedAtMs: null },
  ...{ source: 'security_event', dedupKey: 'k', texts: {}, tags: [], groupIds: [] },
  ...{ relatedEventCount: null, search: null },
};
const chars = (text: unknown) => [...String(text)].length;
/** Fields of a body, all the way down, without what they hold. */
const keysOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, keysOf(one)]))
    : null;

describe('text of attackers', () => {
  it('should stay in its place in PagerDuty', () => {
    fc.assert(
      fc.property(alert, (of) => {
        const { url, headers, text, body } = laid('pagerduty', of);
        expect({ url, headers }).toEqual({ url: 'https://hook/', headers: {} });
        expect(keysOf(body)).toEqual(keysOf(laid('pagerduty', plain).body));
        expect(body).toMatchObject({
          ...{ routing_key: 'key', event_action: 'trigger' },
          ...{ dedup_key: laid('pagerduty', plain).body['dedup_key'] },
          links: [{ href: INBOX, text: 'Open in Console' }],
        });
        const { summary } = body['payload'] as { summary: string };
        expect(chars(summary)).toBeLessThanOrEqual(PAGERDUTY_SUMMARY_MAX_CHARS);
        expect(summary).not.toMatch(/[\r\n\u2028\u0000]/);
        expect(text.isWellFormed()).toBe(true);
      }),
    );
  });

  it('should stay in its place in OpsGenie', () => {
    fc.assert(
      fc.property(alert, (of) => {
        const { url, headers, text, body } = laid('opsgenie', of);
        expect({ url, headers }).toEqual({
          ...{ url: 'https://hook/', headers: { authorization: 'GenieKey key' } },
        });
        expect(keysOf(body)).toEqual(keysOf(laid('opsgenie', plain).body));
        expect(body).toMatchObject({
          ...{ responders: [], visibleTo: [], actions: ['Acknowledge', 'Close'] },
          ...{ alias: laid('opsgenie', plain).body['alias'], source: 'Fleet Runtime Security' },
        });
        expect(chars(body['message'])).toBeLessThanOrEqual(OPSGENIE_MESSAGE_MAX_CHARS);
        expect(chars(body['description'])).toBeLessThanOrEqual(OPSGENIE_DESCRIPTION_MAX_CHARS);
        expect(body['message']).not.toMatch(/[\r\n\u2028\u0000]/);
        expect(text.isWellFormed()).toBe(true);
      }),
    );
  });
});
