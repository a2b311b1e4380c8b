// The three chats: each optional field alone, every severity, and their own limits at the edge. What is there always is in
// `formats.test.ts`.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ALERT_SEVERITIES, type Alert, OPTIONAL_TEXTS } from '../alert.ts';
import { FORMATS } from './formats.ts';

const CHATS = ['slack', 'discord', 'teams'] as const;
type Chat = (typeof CHATS)[number];
const AT_MS = Date.parse('2026-03-04T05:06:07.890Z');
const at = {
  ...{ deliveredAtMs: AT_MS, trustHealth: 'healthy', isContained: false },
  ...{ inboxUrl: 'https://console.example.org/alerts/1', relatedEventCount: null },
} as const;
const plain: Alert = {
  ...{ alertId: '1', kind: 'security_event', severity: 'high', ruleId: 'r1', sensorId: 's1' },
  ...{ nodeName: 'node-1', headline: 'a head', detail: 'a detail', occurredAtMs: AT_MS },
  ...{ observedAtMs: null, source: 'security_event', dedupKey: 'k', texts: {}, tags: [] },
  ...{ groupIds: [], relatedEventCount: null, search: null },
};

/** What a chat has no place for. */
const UNTOLD: Readonly<Record<Chat, readonly string[]>> = {
  slack: ['kernel_version', 'ancestors'],
  discord: ['kernel_version', 'ancestors'],
  teams: [
    ...['event_kind', 'parent_executable', 'mitre_technique', 'mitre_tactic', 'declared_role'],
    ...['os_name', 'os_version', 'architecture', 'kernel_version', 'ancestors'],
  ],
};

const textOf = (chat: Chat, alert: Alert): string =>
  JSON.stringify(FORMATS[chat].lay({ alert, at, targetUrl: 'https://hook/', secret: null }).body);
/** Every text of a body, in its order. */
function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
const stringsOf = (chat: Chat, alert: Alert) => stringsIn(JSON.parse(textOf(chat, alert)));
/** Without what a chat would escape. */
const markOf = (name: string) => `v${name.replaceAll('_', '')}v`;
const chars = (text: string) => [...text].length;

describe.each(CHATS)('%s', (chat) => {
  it('should tell a field that is known, and say nothing of those that are not', () => {
    const told = OPTIONAL_TEXTS.filter((name) => {
      const mark = markOf(name);
      const body = textOf(chat, { ...plain, texts: { [name]: mark } });
      for (const other of OPTIONAL_TEXTS) {
        if (other !== name) expect(body, other).not.toContain(markOf(other));
      }
      return body.includes(mark);
    });
    expect(OPTIONAL_TEXTS.filter((name) => !told.includes(name))).toEqual(UNTOLD[chat]);
    const body = textOf(chat, plain);
    expect(body).not.toMatch(/undefined|null|NaN/);
  });

  it('should tell each severity by its name, with no other one', () => {
    for (const severity of ALERT_SEVERITIES) {
      // How large the text of a card is has the same word.
      const words = stringsOf(chat, { ...plain, severity }).filter((one) => one !== 'Medium');
      const said = words.join('\n').toLowerCase();
      const named = ALERT_SEVERITIES.filter((one) => new RegExp(`\\b${one}\\b`).test(said));
      expect(named).toEqual([severity]);
    }
  });

  it('should stay within its limits however long a text is, and cut nothing that fits', () => {
    const limits = { slack: 3_000, discord: 2_000, teams: 6_000 };
    const length = fc.constantFrom(1, 100, 149, 150, 250, 251, 256, 257, 2_000, 3_001, 7_000);
    fc.assert(
      fc.property(length, length, (head, detail) => {
        const alert = { ...plain, headline: '😀'.repeat(head), detail: 'd'.repeat(detail) };
        const longest = Math.max(...stringsOf(chat, alert).map(chars));
        expect(longest).toBeLessThanOrEqual(limits[chat]);
        expect(textOf(chat, alert)).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
      }),
    );
    const whole = { ...plain, detail: 'd'.repeat(1_500) };
    expect(textOf(chat, whole)).toContain('d'.repeat(1_500));
  });
});
