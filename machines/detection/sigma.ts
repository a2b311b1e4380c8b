// A documented part of Sigma as a rule of our own: process creation, network connection, file event and DNS query of Linux;
// selections of fields with the modifiers contains, startswith, endswith, re and cidr, lists, `all`; conditions of names with
// and, or, not, parentheses, `1 of` and `all of`. Everything else is refused by its path. decision: D132
import type { RuleSpec } from './rule-spec.ts';

export type SigmaRefusal = { readonly path: readonly (string | number)[]; readonly reason: string };
export type SigmaRead =
  | { readonly ok: true; readonly spec: RuleSpec }
  | { readonly ok: false; readonly refusals: readonly SigmaRefusal[] };

const KINDS: Readonly<Record<string, string>> = {
  process_creation: 'event_kind:process_exec',
  network_connection: 'event_kind:network_connect',
  file_event: 'event_kind:(file_open, file_write)',
  dns_query: 'event_kind:dns_query',
};
const FIELDS: Readonly<Record<string, string>> = {
  Image: 'process.binary',
  CommandLine: 'process.arguments',
  CurrentDirectory: 'process.cwd',
  ProcessId: 'process.pid',
  ParentImage: 'parent.binary',
  ParentCommandLine: 'parent.arguments',
  TargetFilename: 'file.path',
  DestinationIp: 'network.destination_ip',
  DestinationPort: 'network.destination_port',
  DestinationHostname: 'network.domain',
  QueryName: 'network.domain',
  SourceIp: 'network.source_ip',
};
const LEVELS: Readonly<Record<string, RuleSpec['severity']>> = {
  ...{ informational: 'info', low: 'low', medium: 'medium', high: 'high', critical: 'critical' },
};
const TOKEN = /\(|\)|\b(?:1|all) of [A-Za-z0-9_*]+|[A-Za-z0-9_]+/g;

/** Reads a rule of Sigma that YAML was made plain data of. Never throws. */
export function specOfSigma(given: unknown): SigmaRead {
  const refusals: SigmaRefusal[] = [];
  const refuse = (path: SigmaRefusal['path'], reason: string): string => {
    refusals.push({ path, reason });
    return 'event_kind:process_exec';
  };
  const root = recordOf(given);
  const detection = recordOf(root['detection']);
  const source = recordOf(root['logsource']);
  const category = String(source['category'] ?? '');
  const kind =
    KINDS[category] ?? refuse(['logsource', 'category'], `the category ${category} is not known`);
  const product = source['product'] ?? 'linux';
  if (product !== 'linux') refuse(['logsource', 'product'], 'only linux is known');
  if ('service' in source) refuse(['logsource', 'service'], 'a service is not known');
  if ('timeframe' in detection) refuse(['detection', 'timeframe'], 'a timeframe is not known');
  const parts = new Map<string, string>();
  for (const [name, selection] of Object.entries(detection)) {
    if (name === 'condition' || name === 'timeframe') continue;
    parts.set(name, selectionOf(selection, ['detection', name], refuse));
  }
  const condition = conditionOf(detection['condition'], parts, refuse);
  const level = String(root['level'] ?? 'medium');
  const severity = LEVELS[level];
  if (severity === undefined) refuse(['level'], `the level ${level} is not known`);
  const title = typeof root['title'] === 'string' ? root['title'].slice(0, 128) : '';
  if (title === '') refuse(['title'], 'a title is missing');
  if (refusals.length > 0) return { ok: false, refusals };
  const about = typeof root['description'] === 'string' ? root['description'].slice(0, 2_048) : '';
  return {
    ok: true,
    spec: {
      ...{ rule_name: title, severity: severity ?? 'medium' },
      ...(about === '' ? {} : { description: about }),
      ...mitreOf(root['tags']),
      detect: { kind: 'match', condition: `${kind} and (${condition})` },
    },
  };
}

type Refuse = (path: SigmaRefusal['path'], reason: string) => string;

function selectionOf(given: unknown, path: SigmaRefusal['path'], refuse: Refuse): string {
  if (Array.isArray(given)) {
    if (given.length === 0) return refuse(path, 'a selection is empty');
    if (given.every((one) => typeof one !== 'object')) {
      return refuse(path, 'key words without a field are not known');
    }
    return `(${given.map((one, at) => selectionOf(one, [...path, at], refuse)).join(' or ')})`;
  }
  const fields = Object.entries(recordOf(given));
  if (fields.length === 0) return refuse(path, 'a selection is empty');
  return `(${fields.map(([name, value]) => fieldOf(name, value, [...path, name], refuse)).join(' and ')})`;
}

function fieldOf(name: string, value: unknown, path: SigmaRefusal['path'], refuse: Refuse): string {
  const [field = '', ...modifiers] = name.split('|');
  const own = FIELDS[field];
  if (own === undefined) return refuse(path, `the field ${field} is not known`);
  const isAll = modifiers.includes('all');
  const others = modifiers.filter((one) => one !== 'all');
  const [modifier = 'is', more] = others;
  if (more !== undefined)
    return refuse(path, `the modifiers ${others.join('|')} are not known together`);
  const values = Array.isArray(value) ? value : [value];
  if (values.length === 0) return refuse(path, 'a value is missing');
  const texts = values.map((one) => {
    if (one === null) return `not ${own}:*`;
    if (typeof one !== 'string' && typeof one !== 'number') {
      return refuse(path, 'only texts and numbers are known');
    }
    return (
      leafOf(own, modifier, String(one)) ?? refuse(path, `the modifier ${modifier} is not known`)
    );
  });
  return `(${texts.join(isAll ? ' and ' : ' or ')})`;
}

function leafOf(field: string, modifier: string, value: string): string | null {
  // Sigma counts no case.
  if (modifier === 're')
    return `${field}=~"${value.replaceAll(/\\.|"/gs, (one) => (one === '"' ? '\\"' : one))}"`;
  if (modifier === 'cidr') return `${field}:${value}`;
  const pattern = patternOf(value);
  if (modifier === 'contains') return `${field}=~"(?i)${pattern}"`;
  if (modifier === 'startswith') return `${field}=~"(?i)^${pattern}"`;
  if (modifier === 'endswith') return `${field}=~"(?i)${pattern}$"`;
  if (modifier !== 'is') return null;
  return /_port$|\.pid$/.test(field) ? `${field}:${value}` : `${field}=~"(?i)^${pattern}$"`;
}

function patternOf(value: string): string {
  return Array.from(value, (char) => {
    if (char === '*') return '.*';
    if (char === '?') return '.';
    return /[\\^$.|+()[\]{}"]/.test(char) ? `\\${char}` : char;
  }).join('');
}

function conditionOf(given: unknown, parts: ReadonlyMap<string, string>, refuse: Refuse): string {
  const path = ['detection', 'condition'];
  if (typeof given !== 'string') return refuse(path, 'one condition is known');
  const rest = given.replaceAll(TOKEN, '').trim();
  if (rest !== '') return refuse(path, `${rest.slice(0, 40)} is not known in a condition`);
  const words = given.match(TOKEN) ?? [];
  return words
    .map((word) => {
      if (['and', 'or', 'not', '(', ')'].includes(word.toLowerCase())) return word.toLowerCase();
      const [, how, what] = /^(1|all) of (.+)$/.exec(word) ?? [];
      if (what === undefined) {
        return parts.get(word) ?? refuse(path, `there is no selection ${word}`);
      }
      const meant = [...parts].filter(([name]) =>
        what === 'them'
          ? true
          : what.endsWith('*')
            ? name.startsWith(what.slice(0, -1))
            : name === what,
      );
      if (meant.length === 0) return refuse(path, `there is no selection ${what}`);
      return `(${meant.map(([, text]) => text).join(how === '1' ? ' or ' : ' and ')})`;
    })
    .join(' ');
}

function mitreOf(tags: unknown): Pick<RuleSpec, 'mitre'> {
  if (!Array.isArray(tags)) return {};
  const words = tags.filter((one) => typeof one === 'string').map((one) => one.toLowerCase());
  const technique = words.find((one) => /^attack\.t\d{4}(\.\d{3})?$/.test(one));
  const tactic = words.find((one) => /^attack\.[a-z-]+$/.test(one));
  if (technique === undefined || tactic === undefined) return {};
  return { mitre: { technique: technique.slice(7).toUpperCase(), tactic: tactic.slice(7) } };
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord ? (value as Record<string, unknown>) : {};
}
