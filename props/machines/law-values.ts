// What the laws compare: contexts that JSON can hold without a loss, and effects with everything they were given.

/** Where a value holds what JSON would drop or change; null when it comes back from JSON as it was. */
export function whyNotJson(value: unknown, at = 'it'): string | null {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return null;
  if (typeof value === 'number') return Number.isFinite(value) ? null : `${at} is ${value}`;
  if (typeof value !== 'object') return `${at} is a ${typeof value}`;
  if (Array.isArray(value)) {
    return first(Array.from(value, (one: unknown, index) => whyNotJson(one, `${at}[${index}]`)));
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    return `${at} is a ${value.constructor?.name ?? 'thing of its own kind'}`;
  }
  // A field that is undefined is one that is not there: JSON leaves both out.
  const fields = Object.entries(value).filter(([, one]) => one !== undefined);
  return first(fields.map(([name, one]) => whyNotJson(one, `${at}.${name}`)));
}

/** Effects as data: their names and all they were given. What runs is named, since it is another object every time. */
export function effectsOf(actions: readonly unknown[]): readonly unknown[] {
  return actions.map((action) => {
    const { type, params } = action as { readonly type: string; readonly params?: unknown };
    return { type, params: plain(params, 0) };
  });
}

const DEPTH_MAX = 12;

function plain(value: unknown, depth: number): unknown {
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return value;
  if ('sessionId' in value && 'id' in value) return { actor: value.id };
  if (value instanceof Error) return { error: value.message };
  if (depth > DEPTH_MAX) return 'deeper';
  if (value instanceof Map) return { map: plain([...value], depth + 1) };
  if (value instanceof Set) return { set: plain([...value], depth + 1) };
  if (value instanceof Date) return { date: value.getTime() };
  if (Array.isArray(value)) return value.map((one) => plain(one, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, plain(one, depth + 1)]),
  );
}

function first(reasons: readonly (string | null)[]): string | null {
  return reasons.find((reason) => reason !== null) ?? null;
}
