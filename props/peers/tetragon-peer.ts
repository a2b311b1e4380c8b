// A program that behaves like Tetragon 1.7 as far as the Sensor can tell: its flags, its pid file, its service on a unix
// socket, its export with lumberjack's rotation, its rules for policies. It watches nothing: the lines are samples.
// A real Tetragon needs kprobes, which the kernels that run these tests have not; it was never run here.
//
// The messages are written down once more, whole, from Tetragon's published interface, so that a wrong field number on
// the Sensor's side is no agreement between two readers of one file.
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import {
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  status,
} from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import { parseDocument } from 'yaml';

const MESSAGES = `syntax = "proto3"; package tetragon;
message Counters {
  uint64 post = 1; uint64 signal = 2; uint64 monitor_signal = 3; uint64 override = 4; uint64 monitor_override = 5;
}
message TracingPolicyStats { Counters action_counters = 1; }
message TracingPolicyStatus {
  uint64 id = 1; string name = 2; string namespace = 3; string info = 4; repeated string sensors = 5;
  bool enabled = 6; uint64 filter_id = 7; string error = 8; int32 state = 9; uint64 kernel_memory_bytes = 10;
  int32 mode = 11; optional TracingPolicyStats stats = 12;
}
message Empty {}
message Version { string version = 1; }
message Listed { repeated TracingPolicyStatus policies = 1; }
message Added { string yaml = 1; }
message Named { string name = 1; string namespace = 2; }
message Configured { string name = 1; string namespace = 2; optional bool enable = 3; optional int32 mode = 4; }`;
const STATES = { enabled: 1, disabled: 2, loadError: 3 } as const;
const MODES = { enforce: 1, monitor: 2 } as const;
/** What a policy of each mode has done, or would have. */
const COUNTERS: Readonly<Record<number, object>> = {
  [MODES.enforce]: { post: 1, signal: 2, override: 4 },
  [MODES.monitor]: { post: 1, monitor_signal: 3, monitor_override: 1 },
};
/** A hook that no kernel has: a policy that names it cannot be loaded. */
const NO_SUCH_CALL = 'no_such_call';

type Policy = { name: string; namespace: string; state: number; mode: number; error: string };
type Values = Readonly<Record<string, unknown>>;

const argv = process.argv.slice(2);
const flagOf = (name: string): string =>
  argv.findLast((one) => one.startsWith(`--${name}=`))?.slice(name.length + 3) ?? '';
const peerDir = flagOf('peer-dir');
const version = flagOf('peer-version');
const exportFile = flagOf('export-filename');
const socket = flagOf('server-address').replace('unix://', '');
const pidFile = path.join(peerDir, 'tetragon.pid');
const policies = new Map<string, Policy>();
/** What was loaded and unloaded, in order. */
const story: string[] = [];
const root = protobuf.parse(MESSAGES, { keepCase: true }).root;

function fail(message: string, error: string): never {
  process.stderr.write(`${JSON.stringify({ level: 'fatal', msg: message, error })}\n`);
  process.exit(1);
}

function load(yaml: string): void {
  const tree: unknown = parseDocument(yaml).toJS();
  const at = (value: unknown, key: string): unknown =>
    typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  const name = String(at(at(tree, 'metadata'), 'name'));
  const namespace = String(at(at(tree, 'metadata'), 'namespace') ?? '');
  if (at(tree, 'kind') !== 'TracingPolicy') throw new Error(`unknown kind ${at(tree, 'kind')}`);
  const known = policies.get(`${namespace}/${name}`);
  if (known !== undefined && known.state !== STATES.loadError) {
    throw new Error(
      `failed to add tracing policy ${name}, a sensor collection with the key already exists`,
    );
  }
  const isBad = yaml.includes(NO_SUCH_CALL);
  const error = isBad ? `call ${NO_SUCH_CALL} not found in BTF` : '';
  const mode = /policy-mode[\s\S]*monitor/.test(yaml) ? MODES.monitor : MODES.enforce;
  const state = isBad ? STATES.loadError : STATES.enabled;
  policies.set(`${namespace}/${name}`, { name, namespace, state, mode, error });
  if (isBad) throw new Error(error);
  story.push(`load ${name}`);
}

function policyOf(request: Values): Policy {
  const found = policies.get(`${request['namespace'] ?? ''}/${request['name']}`);
  if (found === undefined) throw new Error(`tracing policy ${request['name']} does not exist`);
  return found;
}

const METHODS: Readonly<Record<string, readonly [string, string, (request: Values) => Values]>> = {
  GetVersion: ['Empty', 'Version', () => ({ version })],
  ListTracingPolicies: [
    'Empty',
    'Listed',
    () => ({
      policies: [...policies.values()].map((one, at) => ({
        ...one,
        id: at + 1,
        sensors: ['generic_kprobe'],
        enabled: one.state === STATES.enabled,
        kernel_memory_bytes: 4_096,
        stats: { action_counters: COUNTERS[one.mode] },
      })),
    }),
  ],
  AddTracingPolicy: [
    'Added',
    'Empty',
    ({ yaml }) => {
      load(String(yaml));
      return {};
    },
  ],
  DeleteTracingPolicy: [
    'Named',
    'Empty',
    (request) => {
      const { name, namespace } = policyOf(request);
      policies.delete(`${namespace}/${name}`);
      story.push(`unload ${name}`);
      return {};
    },
  ],
  ConfigureTracingPolicy: [
    'Configured',
    'Empty',
    (request) => {
      const policy = policyOf(request);
      policy.mode = Number(request['mode']);
      story.push(`mode ${policy.name} ${policy.mode}`);
      return {};
    },
  ],
};

async function serve(): Promise<void> {
  const definition: Record<string, ServiceDefinition[string]> = {};
  const handlers: Record<string, handleUnaryCall<Values, Values>> = {};
  for (const [method, [asked, answered, act]] of Object.entries(METHODS)) {
    const request = root.lookupType(`tetragon.${asked}`);
    const answer = root.lookupType(`tetragon.${answered}`);
    definition[method] = {
      path: `/tetragon.FineGuidanceSensors/${method}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: (value: Values) => Buffer.from(request.encode(value).finish()),
      requestDeserialize: (bytes: Buffer) => request.toObject(request.decode(bytes)),
      responseSerialize: (value: Values) =>
        Buffer.from(answer.encode(answer.fromObject(value)).finish()),
      responseDeserialize: (bytes: Buffer) => answer.toObject(answer.decode(bytes)),
    };
    handlers[method] = (call, respond) => {
      try {
        respond(null, act(call.request));
      } catch (error) {
        respond({ code: status.UNKNOWN, details: error instanceof Error ? error.message : '' });
      }
    };
  }
  const server = new Server();
  server.addService(definition, handlers);
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
}

/** One line as Tetragon's encoder writes it, with its unsteady spacing. */
function lineOf(number: number): string {
  const time = new Date(Date.UTC(2026, 0, 1) + number).toISOString();
  const execId = (pid: number): string =>
    Buffer.from(`my-node:13665822624856:${pid}`).toString('base64');
  const parent = {
    exec_id: execId(68_598),
    pid: 68_598,
    uid: 0,
    cwd: '/',
    binary: '/usr/bin/containerd-shim-runc-v2',
    arguments: '-namespace k8s.io',
    flags: 'execve clone',
    start_time: '2022-10-18T03:16:12.931574263Z',
    auid: 4_294_967_295,
    refcnt: 2,
  };
  const child = {
    exec_id: execId(number),
    pid: number,
    uid: 0,
    cwd: '/',
    // Another program each time: many starts of one program by one parent would arrive as one burst.
    binary: `/usr/bin/netserver-${number}`,
    arguments: '-D',
    flags: 'execve rootcwd clone',
    start_time: time,
    auid: 4_294_967_295,
    docker: '19a02291e106ce6227b684197be232e',
    parent_exec_id: parent.exec_id,
    refcnt: 1,
  };
  const text = JSON.stringify({ process_exec: { process: child, parent } });
  const tail = `"node_name":"${process.env['NODE_NAME']}","time":"${time}"}`;
  return `${text.slice(0, -1)},${number % 2 === 0 ? ' ' : ''}${tail}\n`;
}

function rotate(): void {
  const { dir, name, ext } = path.parse(exportFile);
  const stamp = new Date().toISOString().replaceAll(':', '-').slice(0, -1);
  renameSync(exportFile, path.join(dir, `${name}-${stamp}${ext}`));
  const backups = readdirSync(dir)
    .filter((one) => one.startsWith(`${name}-`))
    .sort();
  const kept = Number(flagOf('export-file-max-backups'));
  for (const one of backups.slice(0, -kept)) rmSync(path.join(dir, one));
  writeFileSync(exportFile, '', { mode: 0o600 });
}

const ORDERS: Readonly<Record<string, (order: Values) => unknown>> = {
  write: ({ from, count }) => {
    for (let at = 0; at < Number(count); at += 1) {
      appendFileSync(exportFile, lineOf(Number(from) + at), { mode: 0o600 });
    }
  },
  'write half': ({ from }) => appendFileSync(exportFile, lineOf(Number(from)).slice(0, 200)),
  'write rest': ({ from }) => appendFileSync(exportFile, lineOf(Number(from)).slice(200)),
  rotate: () => rotate(),
  story: () => ({ story, argv, policies: [...policies.keys()] }),
};

/** The map of lost events as `bpftool -j map dump` shows it on a machine of two processors. */
function loseEvents(events: number): void {
  const value = Buffer.alloc(256 * 7 * 8);
  value.writeBigUInt64LE(BigInt(events), (5 * 7 + 5) * 8);
  const bytes = (buffer: Buffer): readonly string[] =>
    [...buffer].map((byte) => `0x${byte.toString(16).padStart(2, '0')}`);
  const values = [value, Buffer.alloc(value.byteLength)].map((one, cpu) => ({
    cpu,
    value: bytes(one),
  }));
  const directory = path.join(peerDir, 'bpf', flagOf('bpf-dir'));
  mkdirSync(directory, { recursive: true });
  writeFileSync(
    path.join(directory, 'tg_stats_map'),
    JSON.stringify([{ key: ['0x00', '0x00', '0x00', '0x00'], values }]),
  );
}

/** Its metrics tell five events more, lost behind the kernel's rings. */
async function serveMetrics(): Promise<void> {
  const [host = '', port = ''] = flagOf('metrics-server').split(/:(?=\d+$)/);
  if (port === '') return;
  const server = createHttpServer((_, answer) =>
    answer.end(
      `tetragon_bpf_missed_events_total{error="EAGAIN",msg_op="5"} ${flagOf('peer-lost')}\n` +
        'tetragon_notify_overflowed_events_total 5\ntetragon_events_total{type="x"} 1000\n',
    ),
  );
  await new Promise<void>((resolve) => server.listen(Number(port), host, resolve));
}

function obey(): void {
  const control = path.join(peerDir, 'control.sock');
  rmSync(control, { force: true });
  createServer((connection) => {
    createInterface({ input: connection }).on('line', (line) => {
      const order = JSON.parse(line) as Values;
      const answer = ORDERS[String(order['do'])]?.(order) ?? {};
      connection.write(`${JSON.stringify(answer)}\n`);
    });
  }).listen(control);
}

const other = Number(readPidFile());
if (other > 1 && isAlive(other)) {
  fail(
    'Failed to execute tetragon',
    `failed to create pid file '${pidFile}', another Tetragon instance seems to be up and running: process is already running`,
  );
}
writeFileSync(pidFile, String(process.pid));
process.stderr.write(`${JSON.stringify({ level: 'info', msg: 'Starting tetragon', version })}\n`);
const end = (): void => {
  rmSync(pidFile, { force: true });
  rmSync(socket, { force: true });
  process.exit(0);
};
process.on('SIGTERM', end).on('SIGINT', end);
const policyDir = flagOf('tracing-policy-dir');
if (!path.isAbsolute(policyDir)) fail('Failed path specified by --tracing-policy-dir', policyDir);
if (readdirSync(flagOf('bpf-lib')).length === 0) fail('Failed to execute tetragon', 'no objects');
loseEvents(Number(flagOf('peer-lost')));
for (const name of readdirSync(policyDir)) {
  try {
    load(readFileSync(path.join(policyDir, name), 'utf8'));
  } catch (error) {
    rmSync(pidFile, { force: true });
    fail('Failed to execute tetragon', String(error));
  }
}
mkdirSync(path.dirname(exportFile), { recursive: true });
appendFileSync(exportFile, '', { mode: 0o600 });
obey();
await serveMetrics();
await serve();

function readPidFile(): string {
  try {
    return readFileSync(pidFile, 'utf8');
  } catch {
    return '';
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
