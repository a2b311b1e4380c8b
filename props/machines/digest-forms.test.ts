// Whatever nodes call themselves and their programs, a digest stays what it is: no markup of theirs, no link, nothing that is
// fetched, no line of their own, and the same facts in every form. decision: D166
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mistakesOfDigest } from '../../machines/console/digest/destination.rules.ts';
import type { Digest } from '../../machines/console/digest/digest.ts';
import { mailOf } from '../../machines/console/digest/digest-mail.ts';
import { payloadOf } from '../../machines/console/digest/digest-payload.ts';
import { shown } from '../../machines/console/digest/digest-sections.ts';
import { DIGEST_TEXT_MAX_CHARS } from '../../machines/limits.ts';
import { DAY_MS } from '../../machines/units.ts';
import { anyCharacter } from '../any-character.ts';

const BASE = 'https://console.example:15483';
const hostile = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.constantFrom(
    '<img src=x onerror=alert(1)>',
    '"><a href="https://evil.example">x</a>',
    'https://evil.example/login',
    'www.evil.example',
    'ada@evil.example',
    "' style='background:url(https://evil.example/a.png)",
    'a\r\nBcc: all@evil.example\r\n\r\nforged',
    '\u202Egpj.exe',
    '\u0000\u001b[31m',
    '&lt;b&gt;',
    `${'\ud800'}half`,
    'x'.repeat(5_000),
  ),
);
const digest: fc.Arbitrary<Digest> = fc
  .record({
    ...{ name: hostile, group: fc.option(hostile), node: hostile, headline: hostile },
    ...{ binary: hostile, why: hostile, events: fc.constantFrom('unavailable', 'too_many', 'ok') },
    ...{ seen: fc.nat(1_000_000), lost: fc.nat(1_000), isTest: fc.boolean() },
  })
  .map((of) => digestOf(of));

function digestOf(of: {
  readonly name: string;
  readonly group: string | null;
  readonly node: string;
  readonly headline: string;
  readonly binary: string;
  readonly why: string;
  readonly events: string;
  readonly seen: number;
  readonly lost: number;
  readonly isTest: boolean;
}): Digest {
  const nowMs = Date.UTC(2026, 10, 26);
  const { name, group, node: nodeName, seen, lost, isTest } = of;
  const why = of.events === 'too_many' ? 'too_many' : 'unavailable';
  const programs = { items: [{ binary: of.binary, sensors: 2, nodeName }], total: 4 };
  const worst = { items: [{ nodeName, lost }], total: 1 };
  return {
    ...{ digestId: 'd', name, group, day: '2026-11-26', timeZone: 'UTC', fromMs: nowMs - DAY_MS },
    ...{ toMs: nowMs, madeAtMs: nowMs, isTest, baseUrl: BASE },
    untold: [{ day: '2026-11-25', state: 'missed' }],
    sensors: { total: 9, healthy: 7, enrolled: 1, revoked: 1, contained: 0 },
    alerts: {
      opened: { info: 0, low: 1, medium: 2, high: 3, critical: 4 },
      isWhole: true,
      top: [
        {
          ...{ alertId: 'a"><b>', severity: 'high', headline: of.headline, nodeName },
          ...{ count: 3, state: 'open' },
        },
      ],
    },
    programs: of.events === 'ok' ? programs : why,
    coverage: of.events === 'ok' ? { seen, lost, losses: { kernel_lost: lost }, worst } : why,
    trouble: { items: [{ sensorId: 's', nodeName, why: [of.why] }], total: 1 },
    certificates: { items: [{ sensorId: 's', nodeName, notAfterMs: nowMs }], total: 1 },
    license: { phase: 'valid', validUntilMs: nowMs, graceUntilMs: null, nodesMax: 10 },
  };
}

const TAGS = new Set(
  ...[
    [
      'doctype',
      'html',
      'head',
      'meta',
      'title',
      'body',
      'table',
      'tr',
      'td',
      'h1',
      'h2',
      'p',
      'br',
      'b',
      'a',
      'span',
    ],
  ],
);

describe('a digest as mail', () => {
  it('never has a tag, an attribute or an address that is not its own', () => {
    fc.assert(
      fc.property(digest, (of) => {
        const { html } = mailOf(of);
        const tags = [...html.matchAll(/<[/!]?([a-z0-9]*)([^>]*)>/gi)];
        for (const [, tag = '', rest = ''] of tags) {
          expect(TAGS).toContain(tag.toLowerCase());
          for (const [, name = ''] of rest.matchAll(/\s([a-z-]+)=/g)) {
            expect(name).toMatch(
              /^(lang|charset|name|content|style|role|width|cellpadding|cellspacing|border|href|colspan)$/,
            );
          }
        }
        // Outside of tags there is no bracket left.
        expect(html.replaceAll(/<[/!]?[a-z0-9]+[^<>]*>/gi, '')).not.toMatch(/[<>]/);
        for (const [, href = ''] of html.matchAll(/href="([^"]*)"/g)) {
          expect(href.startsWith(`${BASE}/`)).toBe(true);
        }
        const own = tags.map(([tag]) => tag).join('');
        expect(own).not.toMatch(/<img|<script|<style|<link|url\(|src=|@import|background=/i);
      }),
    );
  });

  it('never lets a text of a node begin a line, turn what follows or become a link', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const own = shown(text);
        expect(own).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
        expect([...own.replaceAll('\u200b', '')].length).toBeLessThanOrEqual(DIGEST_TEXT_MAX_CHARS);
        expect(own).not.toMatch(/:[^\u200b]|@[^\u200b]|\.[^\s.\u200b]/u);
        expect(own.isWellFormed()).toBe(true);
      }),
    );
    fc.assert(
      fc.property(digest, digest, (one, other) => {
        const lines = (of: Digest) => mailOf(of).text.split('\n').length;
        if ((typeof one.programs === 'string') === (typeof other.programs === 'string')) {
          expect(lines(one)).toBe(lines(other));
        }
        expect(mailOf(one).subject).not.toMatch(/[\r\n]/);
      }),
    );
  });

  it('always tells the same as text and as HTML, and its numbers as data', () => {
    fc.assert(
      fc.property(digest, (of) => {
        const { html, text } = mailOf(of);
        const words = html
          .replaceAll(/<title>.*?<\/title>/g, '')
          .replaceAll(/<[^>]*>/g, ' ')
          .replaceAll('&lt;', '<')
          .replaceAll('&gt;', '>')
          .replaceAll('&quot;', '"')
          .replaceAll('&#39;', "'")
          .replaceAll('&amp;', '&');
        for (const { headline } of of.alerts.top) {
          expect(words).toContain(shown(headline));
          expect(text).toContain(shown(headline));
        }
        for (const one of ['2026-11-25', 'was missed', 'Sensors in trouble', 'License']) {
          expect(words).toContain(one);
          expect(text).toContain(one);
        }
        expect(payloadOf(of)).toMatchObject({
          ...{ kind: 'fleet_digest', name: of.name, day: of.day, sensors: of.sensors },
          ...{ untold: [{ day: '2026-11-25', state: 'missed' }] },
        });
      }),
    );
  });
});

describe('what a digest may be', () => {
  const plan = {
    ...{ name: 'd', groupId: null, timeZone: 'Europe/Berlin', at: '08:00', isOn: true },
    ...{ caPem: null, proxyUrl: null },
  };
  const way = {
    ...({ kind: 'mail', security: 'tls' } as const),
    ...{ host: 'mail.example', port: 465, username: 'u' },
    ...{ sender: 'console@example.org', recipients: ['ada@example.org'] },
  };

  it.each([
    [{}, []],
    [{ host: '192.0.2.1' }, []],
    [{ host: '2001:db8::1' }, []],
    [{ host: 'a b' }, ['/mail/host']],
    [{ host: '' }, ['/mail/host']],
    [{ port: 0 }, ['/mail/port']],
    [{ username: 'a\r\nb' }, ['/mail/username']],
    [{ sender: 'ada' }, ['/mail/sender']],
    [{ sender: 'a@b>\r\nRCPT TO:<c@d' }, ['/mail/sender']],
    [{ recipients: [] }, ['/mail/recipients']],
    [{ recipients: ['a@b.c', 'a@b, c@d'] }, ['/mail/recipients/1']],
  ])('should find in %j the mistakes %j', (more, expected) => {
    const found = mistakesOfDigest({ ...plan, way: { ...way, ...more } });
    expect(found.map(({ pointer }) => pointer)).toEqual(expected);
  });

  it.each([
    ['https://hooks.example/x', 0],
    ['http://hooks.example/x', 1],
    ['https://a:b@hooks.example/x', 1],
    ['https://hooks.example/x#y', 1],
    ['nothing', 1],
  ])('should find as many mistakes in %s as %d', (targetUrl, count) => {
    const found = mistakesOfDigest({ ...plan, way: { kind: 'webhook', targetUrl } });
    expect(found).toHaveLength(count);
  });

  it('should want a zone, a time and a name of one line', () => {
    const bad = { ...plan, name: 'a\nb', timeZone: 'Mars/Olympus', at: '24:00', way };
    const found = mistakesOfDigest(bad).map(({ pointer }) => pointer);
    expect(found).toEqual(['/name', '/time_zone', '/at']);
  });
});
