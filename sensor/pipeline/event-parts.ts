// The parts of an event as an engine's line tells them: process, workload, network, file. Pure; every text is bounded,
// what does not fit its field is left out, never invented.
import {
  ARGUMENTS_MAX_CHARS,
  BINARY_MAX_CHARS,
  type EventKind,
  type EventProcess,
  NAME_MAX_CHARS,
  type RuntimeEvent,
} from '../../machines/wire/event.ts';
import {
  countAt,
  cutText,
  isObject,
  type JsonObject,
  listAt,
  objectAt,
  textAt,
} from './json-value.ts';

const IMAGE_MAX_CHARS = 1_024;
const PORT_MAX = 65_535;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/;
const MAY_WRITE = 2;
const NOTHING: JsonObject = {};
const PATH_ARGS = ['file_arg', 'path_arg', 'linux_binprm_arg'];

type Network = NonNullable<RuntimeEvent['network']>;
type Workload = NonNullable<RuntimeEvent['workload']>;
type FilePart = NonNullable<RuntimeEvent['file']>;

export function timeAt(value: JsonObject, key: string): string | undefined {
  const text = textAt(value, key, 64);
  if (TIMESTAMP.test(text)) return Number.isNaN(Date.parse(text)) ? undefined : text;
  const at = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  const iso = Number.isNaN(at) ? '' : new Date(at).toISOString();
  return TIMESTAMP.test(iso) ? iso : undefined;
}

/** A process, or undefined when the line does not tell which: without an exec_id or a pid it names nothing. */
export function processPart(value: JsonObject): EventProcess | undefined {
  const pid = countAt(value, 'pid');
  const execId = textAt(value, 'exec_id', NAME_MAX_CHARS);
  if (pid === undefined && execId === '') return undefined;
  const uid = countAt(value, 'uid');
  // A process may write its title over its arguments; what is left behind it is blank.
  const args = textAt(value, 'arguments', ARGUMENTS_MAX_CHARS).replace(/[\0\s]+$/, '');
  const cwd = textAt(value, 'cwd', BINARY_MAX_CHARS);
  const startTime = timeAt(value, 'start_time');
  return {
    exec_id: execId,
    pid: pid ?? 0,
    binary: textAt(value, 'binary', BINARY_MAX_CHARS),
    ...(uid === undefined ? {} : { uid }),
    ...(args === '' ? {} : { arguments: args }),
    ...(cwd === '' ? {} : { cwd }),
    ...(startTime === undefined ? {} : { start_time: startTime }),
  };
}

export function workloadPart(process: JsonObject): Workload | undefined {
  const pod = objectAt(process, 'pod');
  const container = objectAt(pod, 'container');
  const name = (from: JsonObject, key: string) => textAt(from, key, NAME_MAX_CHARS);
  const found: Record<keyof Workload, string> = {
    container_id: name(container, 'id') || name(process, 'docker'),
    k8s_namespace: name(pod, 'namespace'),
    pod_name: name(pod, 'name'),
    workload_type: name(pod, 'workload_kind'),
    workload_name: name(pod, 'workload'),
    image: textAt(objectAt(container, 'image'), 'name', IMAGE_MAX_CHARS),
  };
  const told = Object.entries(found).filter(([, text]) => text !== '');
  return told.length === 0 ? undefined : Object.fromEntries(told);
}

export function networkNamespace(process: JsonObject): string | undefined {
  const inum = countAt(objectAt(objectAt(process, 'ns'), 'net'), 'inum');
  return inum === undefined ? undefined : String(inum);
}

function firstArg(body: JsonObject, keys: readonly string[]): JsonObject | undefined {
  for (const arg of [...listAt(body, 'args'), body['return']]) {
    const key = isObject(arg) ? keys.find((one) => isObject(arg[one])) : undefined;
    if (isObject(arg) && key !== undefined) return objectAt(arg, key);
  }
  return undefined;
}

function portAt(value: JsonObject, key: string): number | undefined {
  const port = countAt(value, key);
  return port === undefined || port > PORT_MAX ? undefined : port;
}

/** The engine says local (s) and remote (d); an event says who called whom, so an accepted connection is turned round. */
export function networkPart(kind: EventKind, body: JsonObject): Network | undefined {
  const socket = firstArg(body, ['sock_arg', 'skb_arg']);
  // What a call asks for stands beside a socket that is not connected yet.
  const named = firstArg(body, ['sockaddr_arg']);
  const sock = socket ?? named;
  if (sock === undefined) return undefined;
  const address = (key: string) => textAt(sock, key, NAME_MAX_CHARS) || undefined;
  const local = { ip: address('saddr'), port: portAt(sock, 'sport') };
  const remote = {
    ip: textAt(named ?? NOTHING, 'addr', NAME_MAX_CHARS) || address('daddr'),
    port: portAt(named ?? NOTHING, 'port') ?? portAt(sock, 'dport'),
  };
  const inbound = kind === 'network_accept';
  const listens = kind === 'network_listen';
  const source = listens ? undefined : inbound ? remote : local;
  const destination = listens || inbound ? local : remote;
  const protocol = textAt(sock, 'protocol', NAME_MAX_CHARS).replace(/^IPPROTO_/, '');
  return {
    protocol: protocol === '' ? 'unknown' : cutText(protocol.toLowerCase(), NAME_MAX_CHARS),
    direction: listens ? 'listen' : inbound ? 'inbound' : 'outbound',
    ...(source?.ip === undefined ? {} : { source_ip: source.ip }),
    ...(source?.port === undefined ? {} : { source_port: source.port }),
    ...(destination.ip === undefined ? {} : { destination_ip: destination.ip }),
    ...(destination.port === undefined ? {} : { destination_port: destination.port }),
    ...askedName(body),
  };
}

/** The name a DNS question or answer is about, where the engine has read it out of the packet. */
function askedName(body: JsonObject): { readonly domain?: string } {
  const told = listAt(body, 'args').find((arg) => isObject(arg) && arg['label'] === 'dns_name');
  const domain = isObject(told) ? textAt(told, 'string_arg', NAME_MAX_CHARS) : '';
  return domain === '' ? {} : { domain };
}

export function filePart(operation: string, body: JsonObject): FilePart | undefined {
  const file = firstArg(body, PATH_ARGS);
  const path = file === undefined ? '' : textAt(file, 'path', BINARY_MAX_CHARS);
  return path === '' ? undefined : { path, operation: cutText(operation, NAME_MAX_CHARS) };
}

/** Whether a permission check (`security_file_permission`) was asked for writing: its int argument is the mask. */
export function asksToWrite(body: JsonObject): boolean {
  return listAt(body, 'args').some((arg) => {
    const mask = isObject(arg) ? countAt(arg, 'int_arg') : undefined;
    return mask !== undefined && (mask & MAY_WRITE) !== 0;
  });
}
