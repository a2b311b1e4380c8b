// The query of an address as plain text: names and values, a list as a repeated name. People read and type it.
export type SearchText = Readonly<Record<string, string | readonly string[]>>;

/** Reads `?a=1&b=2&b=3`. */
export function parseSearch(text: string): Record<string, string | string[]> {
  const found: Record<string, string | string[]> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    // The name may be one that every object knows (`valueOf`, `__proto__`).
    const before = Object.hasOwn(found, name) ? [found[name] ?? []].flat() : [];
    const now = before.length === 0 ? value : [...before, value];
    Object.defineProperty(found, name, { value: now, enumerable: true, configurable: true });
  }
  return found;
}

/** Writes it again; what is empty is left out. */
export function stringifySearch(search: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== null && one !== '') parameters.append(name, String(one));
    }
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** The one text of a parameter; undefined when there is none. */
export function textIn(value: unknown): string | undefined {
  const [first] = [value].flat();
  return first === undefined || first === null || first === '' ? undefined : String(first);
}

/** The values of a parameter that are known; undefined when there are none. */
export function listIn<T extends string>(value: unknown, known: readonly T[]): T[] | undefined {
  const found = known.filter((one) => [value].flat().some((given) => given === one));
  return found.length === 0 ? undefined : found;
}

/** Only what is there, so that an address says nothing twice. */
export function present<T extends object>(
  values: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
