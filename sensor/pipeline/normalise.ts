// One line of an engine's export becomes one normalized event, or a reason why not; nothing is dropped without one.
// The lines are written by whatever runs on the node, so they are read as hostile: nothing here throws. invariant: I8
import { hash } from 'node:crypto';
import {
  ANCESTORS_MAX,
  EVENT_SCHEMA_VERSION,
  type EventKind,
  type EventProcess,
  MONITORED_TAG,
  NAME_MAX_CHARS,
  type RuntimeEvent,
} from '../../machines/wire/event.ts';
import { parseJson } from '../../machines/wire/parse.ts';
import { answeredAddresses, detailOf } from './event-detail.ts';
import { actionName, isEnforcing, kindOfHook, monitoredAction, severityOf } from './event-kind.ts';
import { messageOf } from './event-message.ts';
import {
  asksToWrite,
  filePart,
  networkNamespace,
  networkPart,
  processPart,
  timeAt,
  workloadPart,
} from './event-parts.ts';
import {
  countAt,
  cutText,
  isObject,
  type JsonObject,
  listAt,
  objectAt,
  textAt,
} from './json-value.ts';
import { inShort, type ProcessCache } from './process-cache.ts';

export type Refused = 'malformed' | 'unknown_event' | 'time_missing';
export type Normalised =
  | {
      readonly ok: true;
      readonly event: RuntimeEvent;
      /** What a name server answered, when the line tells of an answer. */
      readonly answers: readonly string[];
      /** Whom the line names as the parent; '' when it does not. */
      readonly parentExecId: string;
    }
  | { readonly ok: false; readonly refused: Refused };
export type NormaliseContext = {
  readonly sensorId: string;
  readonly cache: ProcessCache;
  /** Whether a policy only monitors, where the engine's lines do not tell: Tetragon names the action either way. */
  readonly monitors?: ((policy: string) => boolean) | undefined;
};

const DNS_PORT = 53;
const NO_ANSWERS: readonly string[] = [];
const HOOK_KEYS = [
  'process_kprobe',
  'process_tracepoint',
  'process_lsm',
  'process_uprobe',
  'process_usdt',
];
const PLAIN_KINDS: ReadonlyMap<string, EventKind> = new Map<string, EventKind>([
  ['process_exec', 'process_exec'],
  ['process_exit', 'process_exit'],
  ['process_loader', 'library_load'],
  ['process_throttle', 'engine_throttle'],
  ['rate_limit_info', 'engine_loss'],
]);
/** All that Tetragon exports but `test`, which only its own tests make: that is refused and counted like any unknown one. */
const EVENT_KEYS = [...PLAIN_KINDS.keys(), ...HOOK_KEYS];

type Hooked = { readonly key: string; readonly name: string; readonly body: JsonObject };

/** Reads one export line. The same line gives the same `event_id`; the cache only adds ancestors. Never throws. */
export function normalise(line: string, context: NormaliseContext): Normalised {
  const parsed = parseJson(line);
  if (!parsed.ok || !isObject(parsed.value)) return { ok: false, refused: 'malformed' };
  const top = parsed.value;
  const key = EVENT_KEYS.find((one) => Object.hasOwn(top, one) && isObject(top[one]));
  if (key === undefined) return { ok: false, refused: 'unknown_event' };
  const body = objectAt(top, key);
  const told = objectAt(body, 'process');
  const observedAt = timeAt(top, 'time') ?? timeAt(body, 'time') ?? timeAt(told, 'start_time');
  if (observedAt === undefined) return { ok: false, refused: 'time_missing' };
  const hooked = { key, name: hookName(key, body), body };
  const policy = policyOf(body, context.monitors);
  const kind = kindOf(hooked, policy?.action ?? '');
  const process = processPart(told);
  const network = networkPart(kind, body);
  const event: Omit<RuntimeEvent, 'message'> = {
    event_id: eventId(context.sensorId, observedAt, hooked),
    schema_version: EVENT_SCHEMA_VERSION,
    observed_at: observedAt,
    event_kind: kind,
    severity: severityOf(kind),
    ...lineage(process, told, body, context.cache),
    ...given('workload', workloadPart(told)),
    ...given('network_namespace', networkNamespace(told)),
    ...given('network', network),
    ...given('file', fileOf(kind, hooked)),
    ...given('policy', policy),
    ...given('occurrences', countAt(body, 'number_of_dropped_process_events')),
    raw_kind: cutText(hooked.name === '' ? key : `${key}:${hooked.name}`, NAME_MAX_CHARS),
  };
  return {
    ok: true,
    event: { ...event, message: messageOf(event, { detail: detailOf(kind, body, network) }) },
    answers: kind === 'dns_query' ? answeredAddresses(body) : NO_ANSWERS,
    parentExecId: textAt(told, 'parent_exec_id', NAME_MAX_CHARS),
  };
}

function given<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}

function hookName(key: string, body: JsonObject): string {
  const text = (one: string) => textAt(body, one, NAME_MAX_CHARS);
  if (key === 'process_tracepoint') return text('event');
  if (key === 'process_uprobe') return text('symbol');
  if (key === 'process_usdt') return [text('provider'), text('name')].join('/');
  return text('function_name');
}

function policyOf(
  body: JsonObject,
  monitors: NormaliseContext['monitors'],
): RuntimeEvent['policy'] {
  const name = textAt(body, 'policy_name', NAME_MAX_CHARS);
  const actions = [textAt(body, 'action', 64), textAt(body, 'return_action', 64)].map(actionName);
  const done = actions.find(isEnforcing);
  if (done !== undefined && monitors?.(name) === true) {
    return { name, action: `${MONITORED_TAG}${done}` };
  }
  // Of what was done at the call and at its return, whatever is more than to post it.
  const other = actions.find((one) => one !== '' && one !== 'post');
  const action = done ?? monitoredAction(listAt(body, 'tags')) ?? other ?? '';
  // Without a policy's name every event of an engine is posted; any other action is worth telling.
  return name === '' && action === '' ? undefined : { name, action: action || 'post' };
}

function kindOf(hooked: Hooked, action: string): EventKind {
  const plain = PLAIN_KINDS.get(hooked.key);
  if (plain !== undefined) return plain;
  if (isEnforcing(action)) return 'policy_enforced';
  if (hooked.key === 'process_uprobe' || hooked.key === 'process_usdt') return 'policy_match';
  if (/^(?:security_)?file_permission$/.test(hooked.name)) {
    return asksToWrite(hooked.body) ? 'file_write' : 'file_open';
  }
  const kind = kindOfHook(hooked.name) ?? 'policy_match';
  const asksName = kind === 'network_connect' && hooked.name.startsWith('udp');
  if (!asksName) return kind;
  const { domain, destination_port: port } = networkPart(kind, hooked.body) ?? {};
  return domain !== undefined || port === DNS_PORT ? 'dns_query' : kind;
}

/** Sensor, engine's exec_id, engine's time, kind, and a digest of what else the engine said about it. */
function eventId(sensorId: string, time: string, { key, name, body }: Hooked): string {
  const { process: told, parent: _parent, ancestors: _ancestors, ...said } = body;
  const execId = isObject(told) ? textAt(told, 'exec_id', NAME_MAX_CHARS) : '';
  const parts = [sensorId, execId, time, key, name, JSON.stringify(said)];
  return hash('sha256', JSON.stringify(parts)).slice(0, 32);
}

type Lineage = Pick<RuntimeEvent, 'process' | 'parent' | 'ancestors'>;
function lineage(
  process: EventProcess | undefined,
  told: JsonObject,
  body: JsonObject,
  cache: ProcessCache,
): Lineage {
  if (process === undefined) return {};
  const parentExecId = textAt(told, 'parent_exec_id', NAME_MAX_CHARS);
  const toldParent = objectAt(body, 'parent');
  const parent = processPart(toldParent) ?? cache.chainFrom(parentExecId, 1)[0];
  cache.remember(process, parentExecId);
  const named = listAt(body, 'ancestors').slice(0, ANCESTORS_MAX);
  const ancestors = named.flatMap((one) => (isObject(one) ? (processPart(one) ?? []) : []));
  const known =
    ancestors.length > 0 ? ancestors.map(inShort) : chainAbove(parentExecId, toldParent, cache);
  return {
    process,
    ...given('parent', parent),
    ...(known.length === 0 ? {} : { ancestors: known }),
  };
}

/** From the grandparent up: the parent stands in a field of its own. */
function chainAbove(
  parentExecId: string,
  toldParent: JsonObject,
  cache: ProcessCache,
): EventProcess[] {
  const above = textAt(toldParent, 'parent_exec_id', NAME_MAX_CHARS);
  if (above !== '') return cache.chainFrom(above, ANCESTORS_MAX);
  return cache.chainFrom(parentExecId, ANCESTORS_MAX + 1).slice(1);
}

function fileOf(kind: EventKind, { name, body }: Hooked): RuntimeEvent['file'] {
  if (kind !== 'library_load') return filePart(operationOf(kind, name), body);
  return filePart('load', { args: [{ path_arg: { path: body['path'] } }] });
}
function operationOf(kind: EventKind, name: string): string {
  if (kind === 'file_open') return 'open';
  const verb = /unlink|rename|truncate/.exec(name)?.[0];
  return verb ?? (kind === 'file_write' ? 'write' : name);
}
