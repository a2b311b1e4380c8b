// An exchange that needs no socket: what a handler of the plane is asked, and all that it answers.
import type { HttpResponse } from 'uWebSockets.js';
import { DEFAULT_INTERVALS } from '../../machines/intervals.ts';
import type { IdentityRecord } from '../../storage/ports/fleet/sensor-registry.ts';
import type { Exchange } from '../listener/exchange.ts';
import type { AdmissionDeps } from './deps.ts';

export const NOW_MS = Date.parse('2026-01-01T00:00:00.000Z');
export const ADDRESS = '10.0.0.1';
export const IDENTITY: IdentityRecord = {
  ...{ fingerprint: 'f', sensorId: 's', nodeName: 'n', status: 'current' },
  ...{ notAfterMs: NOW_MS + 90 * 86_400_000, supersededAtMs: null, sensorRevokedAtMs: null },
};

type Asked = {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent: a request without one. */
  readonly body?: string | Uint8Array;
};

/** A request, and what it came to. */
export function ask(asked: Asked = {}) {
  const { method = 'POST', path = '/', headers = {}, body } = asked;
  const bytes = body === undefined ? null : Buffer.from(body);
  const answers: { status: number; headers: Record<string, string>; body: string }[] = [];
  const aborted: (() => void)[] = [];
  const upgrades: unknown[][] = [];
  let isRead = false;
  const res = {
    cork: (run: () => void) => run(),
    writeStatus: (status: string) =>
      answers.push({ status: Number.parseInt(status, 10), headers: {}, body: '' }),
    writeHeader(name: string, value: string) {
      Object.assign(answers.at(-1)?.headers ?? {}, { [name]: value });
    },
    end: (text: string) => Object.assign(answers.at(-1) ?? {}, { body: text }),
    upgrade: (...args: unknown[]) => upgrades.push(args),
    onData(take: (chunk: ArrayBuffer, isLast: boolean) => void) {
      isRead = true;
      if (bytes !== null) queueMicrotask(() => take(new Uint8Array(bytes).buffer, true));
    },
  };
  const exchange: Exchange = {
    request: {
      ...{ requestId: 'r', method, path, query: '', hasBody: body !== undefined },
      headers: new Map(Object.entries({ 'content-type': 'application/json', ...headers })),
      contentLength: bytes?.length,
      ...{ remoteAddress: ADDRESS, clientFingerprint: 'f' },
    },
    res: res as unknown as HttpResponse,
    ...{ state: 'open', isBodyRead: body === undefined },
    afterParsing: (run) => run(),
    onAborted: (listener) => void aborted.push(listener),
    refuse: () => undefined,
  };
  return {
    ...{ exchange, upgrades },
    isRead: () => isRead,
    /** The peer goes away. */
    leave() {
      exchange.state = 'aborted';
      for (const tell of aborted) tell();
    },
    /** Its one answer, as JSON where it is that; null: none. */
    answer() {
      if (answers.length > 1) throw new Error('answered twice');
      const [one] = answers;
      if (one === undefined) return null;
      return { ...one, body: one.body === '' ? null : JSON.parse(one.body) };
    },
  };
}

/** What lets everybody in, and what it was used for. */
export function openAdmission() {
  const spent: string[] = [];
  const timers: { readonly run: () => void; readonly delayMs: number }[] = [];
  const deps = {
    now: () => NOW_MS,
    clock: {
      setTimeout: (run: () => void, delayMs: number) => timers.push({ run, delayMs }),
      clearTimeout: (id: number) => void spent.push(`cleared ${id}`),
    },
    intervals: DEFAULT_INTERVALS,
    cache: { judge: () => ({ ok: true, identity: IDENTITY }), subscribe: () => () => undefined },
    authenticate: () => ({ ok: true, identity: IDENTITY }),
    budget: {
      async consume(key: string) {
        spent.push(`took ${key}`);
        return { allowed: true, limit: 10, remaining: 9, resetMs: 5_000 };
      },
      reward: async (key: string) => void spent.push(`gave ${key}`),
    },
  } as unknown as AdmissionDeps;
  return { deps, spent, timers };
}
