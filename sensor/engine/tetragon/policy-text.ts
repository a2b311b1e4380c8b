// What is read from and changed in the text of a policy before Tetragon gets it: its name, its mode, and whether two
// versions differ in more than the mode. Whether the rest is right is Tetragon's to say.
import { parseDocument } from 'yaml';
import { TETRAGON_POLICY_MAX_BYTES } from '../../../machines/sensor/policy-limits.ts';
import type { PolicyKey, PolicyMode } from './service.ts';

export type PolicyText = PolicyKey & {
  readonly yaml: string;
  readonly mode: PolicyMode;
  /** Everything but the mode. */
  readonly rest: string;
};
export type PolicyReading =
  | { readonly ok: true; readonly policy: PolicyText }
  | { readonly ok: false; readonly reason: string };

const NAME = /^[a-z0-9]([a-z0-9.-]{0,118}[a-z0-9])?$/;
const KINDS = ['TracingPolicy', 'TracingPolicyNamespaced'];
const MODE_OPTION = 'policy-mode';

/** Reads one policy; a text that is none is refused with what is missing. */
export function readPolicy(yaml: string): PolicyReading {
  if (Buffer.byteLength(yaml) > TETRAGON_POLICY_MAX_BYTES)
    return { ok: false, reason: 'too large' };
  const document = parseDocument(yaml, { logLevel: 'error' });
  const [mistake] = document.errors;
  if (mistake !== undefined) return { ok: false, reason: mistake.message.slice(0, 256) };
  const value = tree(document);
  const kind = at(value, 'kind');
  if (!KINDS.some((one) => one === kind)) return { ok: false, reason: 'kind: no TracingPolicy' };
  const name = at(at(value, 'metadata'), 'name');
  const namespace = at(at(value, 'metadata'), 'namespace') ?? '';
  if (typeof name !== 'string' || !NAME.test(name)) {
    return { ok: false, reason: 'metadata.name: lower-case letters, digits, dots and dashes' };
  }
  if (typeof namespace !== 'string') return { ok: false, reason: 'metadata.namespace: no text' };
  const listed = at(at(value, 'spec'), 'options');
  const options: readonly unknown[] = Array.isArray(listed) ? listed : [];
  const isMode = (one: unknown): boolean => at(one, 'name') === MODE_OPTION;
  const mode = at(options.find(isMode), 'value');
  const others = options.filter((one) => !isMode(one));
  return {
    ok: true,
    policy: {
      name,
      namespace,
      yaml,
      mode: mode === 'monitor' ? 'TP_MODE_MONITOR' : 'TP_MODE_ENFORCE',
      rest: JSON.stringify([value, others], (key, one: unknown) =>
        key === 'options' && one === listed ? undefined : one,
      ),
    },
  };
}

/** The same policy, which only tells. A text that is none stays as it is. */
export function monitored(yaml: string): string {
  const document = parseDocument(yaml, { logLevel: 'error' });
  const spec = at(tree(document), 'spec');
  if (document.errors.length > 0 || typeof spec !== 'object' || spec === null) return yaml;
  const listed = at(spec, 'options');
  const others = (Array.isArray(listed) ? listed : []).filter(
    (one: unknown) => at(one, 'name') !== MODE_OPTION,
  );
  document.setIn(['spec', 'options'], [...others, { name: MODE_OPTION, value: 'monitor' }]);
  return document.toString();
}

/** Where a policy's kprobes answer in the place of the kernel, as paths of fields; none in a text that is no policy. */
export function overridesOf(yaml: string): readonly string[] {
  const value = tree(parseDocument(yaml, { logLevel: 'error' }));
  return listAt(at(value, 'spec'), 'kprobes').flatMap(([hook, hookAt]) =>
    listAt(hook, 'selectors').flatMap(([selector, selectorAt]) =>
      ['matchActions', 'matchReturnActions'].flatMap((name) =>
        listAt(selector, name)
          .filter(([action]) => String(at(action, 'action')).toLowerCase() === 'override')
          .map(([, actionAt]) => `spec.${hookAt}.${selectorAt}.${actionAt}.action`),
      ),
    ),
  );
}

/** The same policy under another name. */
export function renamed(policy: PolicyText, name: string): string {
  const document = parseDocument(policy.yaml, { logLevel: 'error' });
  document.setIn(['metadata', 'name'], name);
  return document.toString();
}

function tree(document: ReturnType<typeof parseDocument>): unknown {
  try {
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    return value;
  } catch {
    return undefined;
  }
}

/** The items of a list, each with how its place is written. */
function listAt(value: unknown, key: string): readonly (readonly [unknown, string])[] {
  const listed = at(value, key);
  if (!Array.isArray(listed)) return [];
  return listed.map((one: unknown, place) => [one, `${key}[${place}]`] as const);
}

function at(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
