// How a capability declares a setting of `sensor.yaml`: its keys, the variables over them, and how its value is read. A file
// of the capability's folder exports it, and one line of `settings.ts` names it. decision: D174

export type Environment = Readonly<Record<string, string | undefined>>;
export type Values = Readonly<Record<string, unknown>>;
export type Given = {
  /** What the command line says, over the environment, over the file. */
  readonly values: Values;
  readonly nodeName: string;
  /** All are told together; a reader adds its own and goes on with the default. */
  readonly mistakes: string[];
};
export type SensorSetting<Value> = {
  /** What it is called in the file. */
  readonly keys: readonly string[];
  /** What the environment says, by the name under which it is read. */
  readonly environment?: (env: Environment) => Values;
  /** Where nothing is given it answers the default, and makes no mistake. */
  readonly read: (given: Given) => Value;
};

/** One of a few words. */
export function choiceIn<T extends string>(
  { values, mistakes }: Given,
  key: string,
  allowed: readonly T[],
  fallback: T,
): T {
  const value = values[key] ?? fallback;
  const found = allowed.find((one) => one === value);
  if (found === undefined) mistakes.push(`${key}: must be one of ${allowed.join(', ')}`);
  return found ?? fallback;
}

/** A text; the fallback where there is none. */
export function textIn({ values, mistakes }: Given, key: string, fallback: string): string {
  const value = values[key] ?? fallback;
  if (typeof value === 'string') return value;
  mistakes.push(`${key}: must be text`);
  return fallback;
}

/** A text as an address; null where there is none. */
export function urlOf(
  key: string,
  text: string | null,
  protocols: readonly string[],
  mistakes: string[],
): URL | null {
  if (text === null) return null;
  const url = URL.parse(text);
  if (url !== null && protocols.includes(url.protocol)) return url;
  mistakes.push(`${key}: must be an address that begins with ${protocols.join(' or ')}//`);
  return null;
}

/** A mapping that holds no other keys than these; an empty one where there is none. */
export function mappingIn(
  { values, mistakes }: Given,
  key: string,
  known: readonly string[],
): Values {
  const given = values[key] ?? {};
  if (typeof given !== 'object' || Array.isArray(given)) {
    mistakes.push(`${key}: must be a mapping`);
    return {};
  }
  for (const name of Object.keys(given)) {
    if (!known.includes(name)) mistakes.push(`${key}.${name}: there is no such setting`);
  }
  return given as Values;
}
