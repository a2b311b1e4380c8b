// The arguments of a hook in words: every kind that Tetragon 1.7 has leaves a trace, those of a version to come too. What
// stands in a field of the event already is not repeated. Pure; nothing here throws.
import { type EventKind, NAME_MAX_CHARS } from '../../machines/wire/event.ts';
import { cutText, isObject, type JsonObject, listAt, objectAt, textAt } from './json-value.ts';

const WORDS_MAX = 16;
const DEPTH_MAX = 4;
const LEAVES_MAX = 64;
const WORD_MAX_CHARS = 1_024;
/** Of these kinds of arguments one field says enough. */
const NAMED: ReadonlyMap<string, string> = new Map([
  ['module_arg', 'name'],
  ['file_arg', 'path'],
  ['path_arg', 'path'],
  ['linux_binprm_arg', 'path'],
  ['capability_arg', 'name'],
  ['bpf_attr_arg', 'ProgName'],
  ['bpf_prog_arg', 'ProgName'],
  ['bpf_map_arg', 'MapName'],
  ['perf_event_arg', 'KprobeFunc'],
  ['sockaddrun_arg', 'path'],
  ['net_dev_arg', 'name'],
]);
/** What the event has fields of its own for. */
const IN_NETWORK = new Set(['sock_arg', 'skb_arg', 'sockaddr_arg', 'sockaddrun_arg']);
const IN_FILE = new Set(['file_arg', 'path_arg', 'linux_binprm_arg']);
const FILE_KINDS = new Set<EventKind>(['file_open', 'file_write', 'library_load']);
const CREDENTIALS = 'process_credentials_arg';
const USER_IDS = ['euid', 'suid', 'fsuid'];
const GROUP_IDS = ['egid', 'sgid', 'fsgid'];

/** Each argument of the hook, and what it returned, that has no field of the event. */
export function argumentWords(kind: EventKind, body: JsonObject): readonly string[] {
  const told = listAt(body, 'args').flatMap((arg) => (isObject(arg) ? wordsOf(kind, arg) : []));
  const returned = wordsOf(kind, { label: 'returned', ...objectAt(body, 'return') });
  const words = [...told.slice(0, WORDS_MAX), ...returned];
  return words.filter((word) => word !== '').map((word) => cutText(word, WORD_MAX_CHARS));
}

function wordsOf(kind: EventKind, arg: JsonObject): readonly string[] {
  const label = textAt(arg, 'label', 64);
  return Object.keys(arg).flatMap((key) => {
    if (key === 'label' || isInField(kind, key)) return [];
    return wordOf(key, label, arg[key]);
  });
}

function isInField(kind: EventKind, key: string): boolean {
  if (kind.startsWith('network_') || kind === 'dns_query') return IN_NETWORK.has(key);
  return FILE_KINDS.has(kind) && IN_FILE.has(key);
}

function wordOf(key: string, label: string, value: unknown): string[] {
  const name = label === '' ? key.replace(/_arg$/, '') : label;
  if (isObject(value)) {
    const known = textAt(value, NAMED.get(key) ?? '', NAME_MAX_CHARS);
    if (known !== '') return [known];
    const word = key === CREDENTIALS ? credentials(value) : leavesOf(value).join(' ');
    return word === '' ? [] : [label === '' ? word : `${label} ${word}`];
  }
  const text = scalar(value);
  if (text === '') return [];
  const speaks = key === 'bpf_cmd_arg' || (key === 'string_arg' && label === '');
  return [speaks ? text : `${name} ${text}`];
}

/** Who it is from now on; the other ids and capabilities where they are not the same. */
function credentials(value: JsonObject): string {
  const { caps: _caps, ...rest } = value;
  const caps = objectAt(value, 'caps');
  const isSame = (one: string, as: string) => scalar(value[one]) === scalar(value[as]);
  const ids = leavesOf(
    Object.fromEntries(
      Object.entries(rest).filter(
        ([key]) =>
          !(USER_IDS.includes(key) && isSame(key, 'uid')) &&
          !(GROUP_IDS.includes(key) && isSame(key, 'gid')),
      ),
    ),
  );
  const effective = listAt(caps, 'effective').map(scalar).join(' ');
  const permitted = listAt(caps, 'permitted').map(scalar).join(' ');
  const inheritable = listAt(caps, 'inheritable').map(scalar).join(' ');
  const sets = [
    effective === '' ? '' : `capabilities ${effective}`,
    permitted === effective || permitted === '' ? '' : `permitted ${permitted}`,
    inheritable === '' ? '' : `inheritable ${inheritable}`,
  ];
  return [...ids, ...sets].filter((word) => word !== '').join(' ');
}

function scalar(value: unknown): string {
  const isOne = typeof value === 'number' || typeof value === 'boolean';
  return isOne ? String(value) : typeof value === 'string' ? cutText(value, NAME_MAX_CHARS) : '';
}

/** Every value with its name, nested ones with those above. */
function leavesOf(value: JsonObject, above = '', depth = 0): string[] {
  const leaves = Object.entries(value).flatMap(([key, one]) => {
    const name = cutText(above === '' ? key : `${above}.${key}`, 64);
    if (isObject(one)) return depth < DEPTH_MAX ? leavesOf(one, name, depth + 1) : [];
    const text = Array.isArray(one) ? one.map(scalar).join('+') : scalar(one);
    return text === '' ? [] : [`${name} ${text}`];
  });
  return leaves.slice(0, LEAVES_MAX);
}
