// Tetragon's service over its unix socket. Every call has a deadline and answers a value; imported only where Tetragon
// runs, because its libraries are not small.
import { fileURLToPath } from 'node:url';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import { TETRAGON_POLICY_CALL_TIMEOUT_MS } from '../../../machines/sensor/policy-limits.ts';
import { TETRAGON_CALL_TIMEOUT_MS } from '../../../machines/sensor/tetragon-limits.ts';
import { isObject } from '../../pipeline/json-value.ts';

const PROTO = fileURLToPath(new URL('./sensors.proto', import.meta.url));
const SERVICE = 'tetragon.FineGuidanceSensors';
const DECODING = { enums: String, longs: Number, defaults: true } as const;

export type PolicyMode = 'TP_MODE_ENFORCE' | 'TP_MODE_MONITOR';
export type PolicyKey = { readonly name: string; readonly namespace: string };
export type PolicyStatus = PolicyKey & {
  /** As Tetragon calls it: `TP_STATE_ENABLED` and so on. */
  readonly state: string;
  readonly mode: string;
  readonly error: string;
  /** What it did and would have done, in the words of our own engine; nothing when Tetragon does not tell. */
  readonly counts: Readonly<Record<string, number>>;
};
export type CallResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

export type TetragonService = {
  readonly version: () => Promise<CallResult<string>>;
  readonly list: () => Promise<CallResult<readonly PolicyStatus[]>>;
  readonly add: (yaml: string) => Promise<CallResult<null>>;
  readonly remove: (key: PolicyKey) => Promise<CallResult<null>>;
  /** Changes whether a loaded policy acts or only tells, without loading it again. */
  readonly setMode: (key: PolicyKey, mode: PolicyMode) => Promise<CallResult<null>>;
  readonly close: () => void;
};

/** A client of the service behind this socket; it connects, and connects again, when it is used. */
export function connectTetragon(socket: string): TetragonService {
  const root = new protobuf.Root().loadSync(PROTO, { keepCase: true });
  const client = new Client(`unix:${socket}`, credentials.createInsecure(), {
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1_000,
    'grpc.enable_http_proxy': 0,
  });
  let isClosed = false;

  async function call(
    method: string,
    request: Readonly<Record<string, unknown>>,
    timeoutMs = TETRAGON_CALL_TIMEOUT_MS,
  ): Promise<CallResult<Readonly<Record<string, unknown>>>> {
    const asked = root.lookupType(`tetragon.${method}Request`);
    const answered = root.lookupType(`tetragon.${method}Response`);
    // The client throws when it is asked after its end; a call under way then is an answer like any other.
    if (isClosed) return { ok: false, reason: 'the service is closed' };
    return await new Promise((resolve) => {
      client.makeUnaryRequest(
        `/${SERVICE}/${method}`,
        (value: Readonly<Record<string, unknown>>) =>
          Buffer.from(asked.encode(asked.fromObject(value)).finish()),
        (bytes: Buffer) => answered.toObject(answered.decode(bytes), DECODING),
        request,
        new Metadata(),
        { deadline: Date.now() + timeoutMs },
        (error, value) => {
          if (error === null && value !== undefined) resolve({ ok: true, value });
          else resolve({ ok: false, reason: error?.details ?? 'no answer' });
        },
      );
    });
  }

  async function command(
    method: string,
    request: Readonly<Record<string, unknown>>,
  ): Promise<CallResult<null>> {
    const result = await call(method, request, TETRAGON_POLICY_CALL_TIMEOUT_MS);
    return result.ok ? { ok: true, value: null } : result;
  }

  return {
    async version() {
      const result = await call('GetVersion', {});
      return result.ok ? { ok: true, value: String(result.value['version']) } : result;
    },
    async list() {
      const result = await call('ListTracingPolicies', {});
      if (!result.ok) return result;
      const { policies } = result.value as { policies: readonly Record<string, unknown>[] };
      return { ok: true, value: policies.map(statusOf) };
    },
    add: (yaml) => command('AddTracingPolicy', { yaml }),
    remove: ({ name, namespace }) => command('DeleteTracingPolicy', { name, namespace }),
    setMode: ({ name, namespace }, mode) =>
      command('ConfigureTracingPolicy', { name, namespace, mode }),
    close() {
      isClosed = true;
      client.close();
    },
  };
}

function statusOf(one: Readonly<Record<string, unknown>>): PolicyStatus {
  const text = (key: string): string => String(one[key] ?? '');
  return {
    name: text('name'),
    namespace: text('namespace'),
    state: text('state'),
    mode: text('mode'),
    error: text('error'),
    counts: countsOf(one['stats']),
  };
}

function countsOf(stats: unknown): PolicyStatus['counts'] {
  const counters = isObject(stats) ? stats['action_counters'] : null;
  if (!isObject(counters)) return {};
  const sum = (...names: readonly string[]): number =>
    names.reduce((all, name) => all + Number(counters[name] ?? 0), 0);
  return {
    signals: sum('signal', 'notify_enforcer'),
    refusals: sum('override', 'set'),
    monitored_signals: sum('monitor_signal', 'monitor_notify_enforcer'),
    monitored_refusals: sum('monitor_override', 'monitor_set'),
  };
}
