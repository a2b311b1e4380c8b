// Query strings into plain values: list parameters always become lists (repeated or comma-separated); a scalar given
// twice stays a list, which its schema refuses.
const LIST_PARAMETERS: ReadonlySet<string> = new Set([
  'event_kind',
  'severity',
  'trust_health',
  'trust_state',
]);

/** Parses the text after `?`. */
export function parseQuery(text: string): Record<string, string | string[]> {
  const parsed: Record<string, string | string[]> = Object.create(null);
  const parameters = new URLSearchParams(text);
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    if (LIST_PARAMETERS.has(name)) {
      parsed[name] = values.flatMap((value) => value.split(',')).filter((value) => value !== '');
    } else {
      const [first = ''] = values;
      parsed[name] = values.length === 1 ? first : values;
    }
  }
  return parsed;
}
