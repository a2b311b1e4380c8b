// What is worth saying about an event beyond who did it: how a process ended, which module, which name was asked for, whom
// a signal was for. Read from the arguments the engine took down; what it did not take down is not said.
import { type EventKind, NAME_MAX_CHARS, type RuntimeEvent } from '../../machines/wire/event.ts';
import { argumentWords } from './argument-words.ts';
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
const DETAIL_MAX_CHARS = 1_536;

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
    case 'engine_loss':
      return unwatchedOf(body);
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

/** What the policy says of it, and what the hook was called with. */
function saidOf(kind: EventKind, body: JsonObject): string {
  const message = textAt(body, 'message', NAME_MAX_CHARS);
  const words = argumentWords(kind, body).join(', ');
  const said = [message, words].filter((one) => one !== '').join(': ');
  return said === '' ? '' : `: ${plainText(said, DETAIL_MAX_CHARS)}`;
}

/** From when to when nobody watched, and why. */
function unwatchedOf(body: JsonObject): string {
  const gap = objectAt(body, 'unwatched');
  const [since, until, how] = ['since', 'until', 'how'].map((key) => textAt(gap, key, 64));
  return since === '' || until === '' ? '' : `: nobody watched from ${since} to ${until} (${how})`;
}

function labelled(body: JsonObject, label: string): string {
  const arg = listAt(body, 'args').find((one) => isObject(one) && one['label'] === label);
  return isObject(arg) ? textAt(arg, 'string_arg', NAME_MAX_CHARS) : '';
}
