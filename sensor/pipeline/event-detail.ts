// What is worth saying about an event beyond who did it: how a process ended, which module, which name was asked for, whom
// a signal was for. Read from the arguments the engine took down; what it did not take down is not said.
import { type EventKind, NAME_MAX_CHARS, type RuntimeEvent } from '../../machines/wire/event.ts';
import {
  countAt,
  isObject,
  type JsonObject,
  listAt,
  objectAt,
  plainText,
  textAt,
} from './json-value.ts';

const ANSWERS_MAX = 16;
const WORDS_MAX = 4;

/** The addresses a name server gave, as the engine read them out of its answer. */
export function answeredAddresses(body: JsonObject): readonly string[] {
  const told = listAt(body, 'args').flatMap((arg) =>
    isObject(arg) && arg['label'] === 'dns_address' ? textAt(arg, 'string_arg', 64) : [],
  );
  return told.filter((one) => one !== '').slice(0, ANSWERS_MAX);
}

/** The end of the sentence about an event; '' when there is nothing to add. */
export function detailOf(
  kind: EventKind,
  body: JsonObject,
  network: RuntimeEvent['network'],
): string {
  switch (kind) {
    case 'process_exit':
      return endingOf(body);
    case 'dns_query':
      return nameOf(body, network?.domain);
    case 'engine_throttle':
      return throttleOf(body);
    default:
      return saidOf(kind, body);
  }
}

function endingOf(body: JsonObject): string {
  const signal = textAt(body, 'signal', 32);
  const status = countAt(body, 'status') ?? 0;
  if (signal !== '') return ` by ${signal}`;
  return status === 0 ? '' : ` with status ${status}`;
}

function nameOf(body: JsonObject, domain: string | undefined): string {
  if (domain === undefined) return '';
  const addresses = answeredAddresses(body);
  const type = labelled(body, 'dns_type');
  const asked = ` for ${domain}${type === '' ? '' : ` (${type})`}`;
  return addresses.length === 0 ? asked : `${asked}: ${addresses.join(', ')}`;
}

function throttleOf(body: JsonObject): string {
  const group = textAt(body, 'cgroup', NAME_MAX_CHARS);
  const ends = textAt(body, 'type', 64) === 'THROTTLE_STOP' ? ' no longer' : '';
  return group === '' ? ends : `${ends}: ${group}`;
}

function saidOf(kind: EventKind, body: JsonObject): string {
  const message = textAt(body, 'message', NAME_MAX_CHARS);
  if (message !== '') return `: ${message}`;
  const words = kind === 'file_open' || kind.startsWith('network_') ? [] : wordsOf(body);
  return words.length === 0 ? '' : `: ${plainText(words.join(', '), NAME_MAX_CHARS)}`;
}

function labelled(body: JsonObject, label: string): string {
  const arg = listAt(body, 'args').find((one) => isObject(one) && one['label'] === label);
  return isObject(arg) ? textAt(arg, 'string_arg', NAME_MAX_CHARS) : '';
}

function wordsOf(body: JsonObject): readonly string[] {
  const words = listAt(body, 'args').flatMap((arg) => (isObject(arg) ? wordOf(arg) : []));
  return words.filter((word) => word !== '').slice(0, WORDS_MAX);
}

/** One argument in a word, of those kinds that name something; the others are numbers without a meaning of their own. */
function wordOf(arg: JsonObject): string {
  const label = textAt(arg, 'label', 64);
  const name = (key: string, field: string) => textAt(objectAt(arg, key), field, NAME_MAX_CHARS);
  const text = textAt(arg, 'string_arg', NAME_MAX_CHARS);
  if (text !== '') return label === '' ? text : `${label} ${text}`;
  const number = countAt(arg, 'int_arg') ?? countAt(arg, 'uint_arg') ?? countAt(arg, 'size_arg');
  if (label !== '' && number !== undefined) return `${label} ${number}`;
  return (
    name('module_arg', 'name') ||
    name('file_arg', 'path') ||
    name('path_arg', 'path') ||
    name('linux_binprm_arg', 'path') ||
    name('capability_arg', 'name') ||
    name('bpf_attr_arg', 'ProgName') ||
    name('bpf_prog_arg', 'ProgName') ||
    name('bpf_map_arg', 'MapName') ||
    textAt(arg, 'bpf_cmd_arg', 64) ||
    name('perf_event_arg', 'KprobeFunc') ||
    name('sockaddrun_arg', 'path') ||
    name('net_dev_arg', 'name')
  );
}
