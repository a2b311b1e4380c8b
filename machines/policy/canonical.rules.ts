// RFC 8785 of what this product signs in the domain of policies: text, whole numbers, truth values, lists and objects. Each
// program computes the same bytes from the same facts, whoever wrote them down. decision: D80
export type Canonical =
  | string
  | number
  | boolean
  | null
  | readonly Canonical[]
  | { readonly [name: string]: Canonical | undefined };

/** The text; null when something in it has no such form: half a surrogate, a number that is not whole and safe. */
export function canonicalText(value: Canonical): string | null {
  if (value === null || typeof value === 'boolean') return String(value);
  // -0 is 0.
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value + 0) : null;
  if (typeof value === 'string') return value.isWellFormed() ? JSON.stringify(value) : null;
  const parts = isList(value) ? value.map(canonicalText) : membersOf(value);
  if (parts.includes(null)) return null;
  return isList(value) ? `[${parts.join(',')}]` : `{${parts.join(',')}}`;
}

/** A prefix and the text, as bytes. Throws on what has no such form: it was parsed before. */
export function canonicalBytes(prefix: string, value: Canonical): Uint8Array {
  const text = canonicalText(value);
  if (text === null) throw new Error('this has no canonical form');
  return new TextEncoder().encode(`${prefix}${text}`);
}

function isList(value: Canonical): value is readonly Canonical[] {
  return Array.isArray(value);
}

// By UTF-16 units, as `<` compares; a member that is undefined is none.
function membersOf(value: { readonly [name: string]: Canonical | undefined }) {
  return Object.keys(value)
    .sort((a, b) => (a < b ? -1 : 1))
    .flatMap((name) => {
      const member = value[name];
      if (member === undefined) return [];
      const [key, text] = [canonicalText(name), canonicalText(member)];
      return [key === null || text === null ? null : `${key}:${text}`];
    });
}
