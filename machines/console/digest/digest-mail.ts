// A digest as a mail: text, and HTML that needs nothing from anywhere - no image, no style sheet, no font, no script. Its only
// links lead to the Console. decision: D166
import type { Digest } from './digest.ts';
import {
  type DigestItem,
  type DigestSection,
  scopeText,
  sectionsOf,
  shown,
  stretchText,
  subjectOf,
} from './digest-sections.ts';

export type DigestMail = { readonly subject: string; readonly text: string; readonly html: string };

const FONT = 'font-family:Segoe UI,Helvetica,Arial,sans-serif';
const INK = '#1c2430';
const QUIET = '#5b6675';
const LINE = '#d9dee5';
const MARKS: Readonly<Record<string, string>> = {
  ...{ critical: '#a4161a', high: '#b34700', medium: '#7a5d00', low: '#2f6690', info: QUIET },
};

/** Lays out a digest. */
export function mailOf(digest: Digest): DigestMail {
  const sections = sectionsOf(digest);
  return {
    subject: subjectOf(digest),
    text: textOf(digest, sections),
    html: htmlOf(digest, sections),
  };
}

function textOf(digest: Digest, sections: readonly DigestSection[]): string {
  const head = [scopeText(digest), `${shown(digest.name)}, ${digest.day}`, stretchText(digest)];
  const blocks = sections.map(({ title, facts, items, note }) =>
    [
      title,
      '-'.repeat(title.length),
      ...facts.map(([name, value]) => `${name}: ${value}`),
      ...items.map((one) => itemText(one)),
      ...(note === null ? [] : [note]),
    ].join('\n'),
  );
  return `${[head.join('\n'), ...blocks, `Console: ${digest.baseUrl}/`].join('\n\n')}\n`;
}

function itemText({ mark, text, note }: DigestItem): string {
  return `* ${mark === '' ? '' : `[${mark}] `}${text} - ${note}`;
}

function htmlOf(digest: Digest, sections: readonly DigestSection[]): string {
  const title = escaped(`${scopeText(digest)}, ${digest.day}`);
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    '<meta name="color-scheme" content="light">',
    `<title>${title}</title></head>`,
    `<body style="margin:0;padding:16px;background:#f4f6f8;color:${INK};${FONT}">`,
    '<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"',
    ` style="max-width:680px;margin:0 auto;background:#ffffff;border:1px solid ${LINE}">`,
    `<tr><td style="padding:20px 24px 8px"><h1 style="margin:0;font-size:20px">${title}</h1>`,
    `<p style="margin:4px 0 0;font-size:13px;color:${QUIET}">${escaped(shown(digest.name))}<br>`,
    `${escaped(stretchText(digest))}</p></td></tr>`,
    ...sections.map((section) => sectionHtml(section, digest.baseUrl)),
    `<tr><td style="padding:12px 24px 20px;font-size:13px">${linkTo(digest.baseUrl, '/', 'Open the Console')}`,
    '</td></tr></table></body></html>\n',
  ].join('\n');
}

function sectionHtml({ title, facts, items, note }: DigestSection, baseUrl: string): string {
  const cell = `padding:3px 12px 3px 0;font-size:14px;vertical-align:top`;
  const rows = [
    ...facts.map(
      ([name, value]) =>
        `<tr><td style="${cell};color:${QUIET}">${escaped(name)}</td><td style="${cell}">${escaped(value)}</td></tr>`,
    ),
    ...items.map(
      (one) => `<tr><td colspan="2" style="${cell}">${itemHtml(one, baseUrl)}</td></tr>`,
    ),
  ];
  return [
    `<tr><td style="padding:12px 24px;border-top:1px solid ${LINE}">`,
    `<h2 style="margin:0 0 6px;font-size:15px">${escaped(title)}</h2>`,
    rows.length === 0
      ? ''
      : `<table role="presentation" cellpadding="0" cellspacing="0" border="0">${rows.join('')}</table>`,
    note === null
      ? ''
      : `<p style="margin:4px 0 0;font-size:13px;color:${QUIET}">${escaped(note)}</p>`,
    '</td></tr>',
  ].join('\n');
}

function itemHtml({ mark, text, note, path }: DigestItem, baseUrl: string): string {
  const tone = MARKS[mark] ?? QUIET;
  const head = mark === '' ? '' : `<b style="color:${tone}">${escaped(mark)}</b> `;
  const words = path === null ? escaped(text) : linkTo(baseUrl, path, text);
  return `${head}${words}<br><span style="font-size:13px;color:${QUIET}">${escaped(note)}</span>`;
}

function linkTo(baseUrl: string, path: string, text: string): string {
  return `<a href="${escaped(baseUrl + path)}" style="color:#1f5fa8">${escaped(text)}</a>`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' },
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => ESCAPES[char] ?? '');
}
