// Text of others inside messages: cut by characters, never in half of one, and without the power to mention, to mark up or
// to link where it is shown.
const ELLIPSIS = '…';

/** At most so many characters (code points); what is cut ends in an ellipsis, which counts. */
export function cut(text: string, maxChars: number): string {
  const whole = text.toWellFormed();
  if (whole.length <= maxChars) return whole;
  const chars = [...whole];
  return chars.length <= maxChars ? whole : chars.slice(0, maxChars - 1).join('') + ELLIPSIS;
}

/** Escapes by a table, then cuts, never inside an escape. */
export function cutEscaped(
  text: string,
  maxChars: number,
  escaped: (char: string) => string,
): string {
  const pieces: string[] = [];
  let chars = 0;
  for (const char of text.toWellFormed()) {
    const piece = escaped(char);
    chars += [...piece].length;
    pieces.push(piece);
    if (chars > maxChars) break;
  }
  if (chars <= maxChars) return pieces.join('');
  while (chars > maxChars - 1) chars -= [...(pieces.pop() ?? '')].length;
  return pieces.join('') + ELLIPSIS;
}

/** For Slack's mrkdwn: with these three escaped nothing mentions and nothing links. */
export function forSlack(char: string): string {
  if (char === '&') return '&amp;';
  if (char === '<') return '&lt;';
  return char === '>' ? '&gt;' : char;
}

const MARKDOWN = new Set('\\`*_{}[]()#+-.!|<>~@:&');

/** For Markdown that also links bare addresses and mentions people: everything that could begin either is escaped. */
export function forMarkdown(char: string): string {
  return MARKDOWN.has(char) ? `\\${char}` : char;
}

/** Discord sees mentions and addresses behind escapes, too: an invisible space breaks them. */
export function forDiscord(char: string): string {
  if (char === '@' || char === ':' || char === '<') return `${forMarkdown(char)}\u200b`;
  return forMarkdown(char);
}

/** One line of plain text: line ends and other control characters become spaces. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
