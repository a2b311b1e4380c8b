// A condition as the text it can be read from again. decision: D97
import type { Condition, Piece } from './condition.ts';

const PLAIN = /^[\w./-]+$/;
const KEYWORDS: ReadonlySet<string> = new Set(['and', 'or', 'not']);

/** The text of a condition; reading it gives the same meaning. */
export function conditionText(condition: Condition): string {
  switch (condition.is) {
    case 'all':
      return condition.of.map(inner).join(' and ');
    case 'either':
      return condition.of.map(inner).join(' or ');
    case 'not':
      return `not ${inner(condition.of)}`;
    case 'words':
      return quoted(condition.text);
    case 'present':
      return `${condition.field}:*`;
    case 'among': {
      const texts = condition.values.map((one) => quoted(String(one)));
      return `${condition.field}:${texts.length === 1 ? texts[0] : `(${texts.join(', ')})`}`;
    }
    case 'like':
      return `${condition.field}:"${condition.pieces.map(pieceText).join('')}"`;
    case 'contains':
      return `${condition.field}~${quoted(condition.text)}`;
    case 'pattern':
      return `${condition.field}=~"${condition.source.replaceAll(/\\.|"/gs, (one) => (one === '"' ? '\\"' : one))}"`;
    case 'compare':
      return `${condition.field}:${condition.op}${condition.value}`;
    case 'network':
      return `${condition.field}:${condition.source}`;
  }
}

function inner(condition: Condition): string {
  const text = conditionText(condition);
  return condition.is === 'all' || condition.is === 'either' ? `(${text})` : text;
}

function pieceText(piece: Piece): string {
  if (piece.is === 'text') return escaped(piece.text);
  return piece.is === 'any' ? '*' : '?';
}

function quoted(text: string): string {
  return PLAIN.test(text) && !KEYWORDS.has(text.toLowerCase()) ? text : `"${escaped(text)}"`;
}

function escaped(text: string): string {
  return text
    .replaceAll(/[\\"*?]/g, '\\$&')
    .replaceAll(
      /\p{Cc}/gu,
      (one) => `\\x${(one.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}`,
    );
}
