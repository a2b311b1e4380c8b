// A statement as people can run it: every parameter in its place, as a literal. It is shown and never run from here; what
// the Console asks itself goes with parameters. decision: D140

const PARAMETER = /\{(\w+): ([A-Za-z0-9()]+)\}/g;
const ESCAPES: Readonly<Record<string, string>> = {
  "'": "\\'",
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\0': '\\0',
};

/** Puts the parameters in. Throws for one that has no value, which is a mistake of the statement's maker. */
export function shownSql(sql: string, params: Readonly<Record<string, unknown>>): string {
  return sql.replaceAll(PARAMETER, (_, name: string) => {
    if (!(name in params)) throw new Error(`the parameter ${name} has no value`);
    return literalOf(params[name]);
  });
}

function literalOf(value: unknown): string {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value === 'string') return textLiteral(value);
  if (Array.isArray(value)) return `[${value.map(literalOf).join(', ')}]`;
  throw new Error('a parameter is a text, a number, or several of them');
}

// Control characters could rewrite a terminal's line, so they are written as their codes.
function textLiteral(text: string): string {
  const inner = text.replaceAll(/['\\\p{Cc}]/gu, (char) => {
    const known = ESCAPES[char];
    if (known !== undefined) return known;
    return [...Buffer.from(char, 'utf8')]
      .map((byte) => `\\x${byte.toString(16).padStart(2, '0').toUpperCase()}`)
      .join('');
  });
  return `'${inner}'`;
}
