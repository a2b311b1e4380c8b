// A browser of the simulated world: what it sends comes to a Console's listener and through its operator plane as over
// HTTP. A Console that ends meanwhile never answers; one that answers 503 may have done it.
import { SESSION_COOKIE } from '../../../gateway/access/session-cookie.ts';
import { CONSOLE_HOST_NAME, CONSOLE_URL } from './console-name.ts';
import type { Listeners } from './dial.ts';
import type { EdgeAnswer } from './edge-exchange.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** What came of asking a Console; `silent` = it may have been done. */
export type Heard<T> =
  | { readonly isSilent: false; readonly value: T }
  | { readonly isSilent: true };

export type PlaneRequest = {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Below the API's prefix. */
  readonly path: string;
  readonly body?: unknown;
  /** The secret of the session that is shown; absent: nobody asks. */
  readonly session?: string | undefined;
  readonly address: string;
};
export type PlaneAnswer = {
  readonly console: string;
  readonly status: number;
  /** Of a refusal; null when it was done. */
  readonly code: string | null;
  readonly body: Readonly<Record<string, unknown>>;
  /** The secret of the session that goes on from here; null when it is as before. */
  readonly session: string | null;
};

const PREFIX = '/api/v2';
/** Plugins and streams go on by turns of the event loop, and a turn is given at every step. */
const STEP_MS = 5;
/** Longer than a Console may take. */
const PATIENCE_MS = 90_000;
const SET_COOKIE = new RegExp(`^${SESSION_COOKIE}=([^;]*)`);

/** Asks any Console that is up. */
export function askPlane(
  of: { readonly world: World; readonly listeners: Listeners; readonly random: Random },
  request: PlaneRequest,
): Promise<Heard<PlaneAnswer>> {
  const { world, listeners, random } = of;
  const up = listeners.find(CONSOLE_HOST_NAME);
  if (up.length === 0) return Promise.resolve({ isSilent: true });
  const { edge, console, life } = random.pick(up);
  return new Promise((resolve) => {
    let isOver = false;
    const turns = world.scheduler.waitForTurns();
    const settle = (heard: Heard<PlaneAnswer>): void => {
      if (isOver) return;
      isOver = true;
      turns();
      resolve(heard);
    };
    const step = (): void => {
      if (!isOver) world.scheduler.after(STEP_MS, step);
    };
    step();
    life.onEnd(() => settle({ isSilent: true }));
    let abort: () => void = () => undefined;
    const told = (answer: EdgeAnswer): void => {
      const heard = answerOf(console, answer);
      if (heard.status === 500) {
        world.crashed('the operator plane', new Error(`${request.method} ${request.path}`));
      }
      settle(heard.status >= 500 ? { isSilent: true } : { isSilent: false, value: heard });
    };
    // A Console that was paused reads what was sent, and then that nobody waits for an answer any more.
    life.hear(() => {
      const asked = edge.request(edgeRequestOf(request), told);
      abort = () => life.hear(asked.abort);
      if (isOver) abort();
    });
    world.scheduler.after(PATIENCE_MS, () => {
      if (!isOver) abort();
      settle({ isSilent: true });
    });
  });
}

function edgeRequestOf({ method, path, body, session, address }: PlaneRequest) {
  const text = body === undefined ? '' : JSON.stringify(body);
  return {
    ...{ path: `${PREFIX}${path}`, method, address, certPem: '', body: text },
    headers: {
      ...{ host: CONSOLE_HOST_NAME, origin: CONSOLE_URL, 'user-agent': 'world' },
      ...{ 'sec-fetch-site': 'same-origin', 'x-service-csrf': '1' },
      ...(session === undefined ? {} : { cookie: `${SESSION_COOKIE}=${session}` }),
      ...(text === ''
        ? {}
        : { 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(text)}` }),
    },
  };
}

function answerOf(console: string, { status, headers, body }: EdgeAnswer): PlaneAnswer {
  const read: unknown = body === '' ? {} : JSON.parse(body);
  const fields = read as Readonly<Record<string, unknown>>;
  const [, given = ''] = SET_COOKIE.exec(headers.get('set-cookie') ?? '') ?? [];
  return {
    ...{ console, status, body: fields, session: given === '' ? null : given },
    code: status < 400 ? null : String(fields['code'] ?? `http_${status}`),
  };
}
