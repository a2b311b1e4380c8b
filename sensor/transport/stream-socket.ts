// One WebSocket of the sensor stream: greets, answers pings, and hands every other frame on as a typed value.
import { WebSocket } from 'ws';
import { STREAM_FRAME_MAX_BYTES } from '../../machines/limits.ts';
import { SENSOR_PATHS } from '../../machines/wire/enrollment.ts';
import { type Parsed, parseJson, parserOfValue } from '../../machines/wire/parse.ts';
import { INSTANCE_HEADER, SENSOR_SUBPROTOCOL } from '../../machines/wire/scalars.ts';
import {
  DOWNSTREAM_FRAMES,
  type DownstreamFrame,
  type HelloFrame,
  RefreshFrame,
  type UpstreamFrame,
} from '../../machines/wire/stream.ts';
import { createTlsAgent } from './agent.ts';
import { isObject, retryAfterOf } from './answer.ts';
import { type ConsoleClient, problemCodeOf } from './console-client.ts';
import { type Trouble, troubleOf } from './trouble.ts';

export type StreamSocket = {
  send(frame: UpstreamFrame): void;
  /** Sends text that is already JSON. */
  sendText(text: string): void;
  close(reason?: string): void;
};
export type StreamHandlers = {
  readonly onFrame: (frame: DownstreamFrame) => void;
  readonly onClosed: (reason: string, code: number) => void;
};
export type StreamOpening =
  | { readonly ok: true; readonly socket: StreamSocket }
  | {
      readonly ok: false;
      readonly code: string;
      readonly trouble: Trouble;
      readonly retryAfterMs: number | null;
    };

const checkRefresh = parserOfValue(RefreshFrame);
const PARSERS = new Map<unknown, (value: unknown) => Parsed<DownstreamFrame>>();
for (const [type, schema] of Object.entries(DOWNSTREAM_FRAMES)) {
  PARSERS.set(type, parserOfValue(schema));
}
PARSERS.set('refresh', refreshOf);

/** Opens the socket and says hello; resolves when the upgrade is done. Never rejects. */
export function openStreamSocket(
  client: ConsoleClient,
  hello: HelloFrame,
  handlers: StreamHandlers,
  timeoutMs: number,
): Promise<StreamOpening> {
  const url = new URL(SENSOR_PATHS.stream, client.baseUrl);
  const agent = createTlsAgent(client.identity(), { proxyUrl: client.proxyUrl });
  const socket = new WebSocket(url, SENSOR_SUBPROTOCOL, {
    agent,
    headers: { [INSTANCE_HEADER]: client.instanceId },
    handshakeTimeout: timeoutMs,
    maxPayload: STREAM_FRAME_MAX_BYTES,
    perMessageDeflate: false,
  });
  const write = (text: string): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(text);
  };
  return new Promise((resolve) => {
    const fail = (code: string, trouble: Trouble, retryAfterMs: number | null = null): void =>
      resolve({ ok: false, code, trouble, retryAfterMs });
    socket.on('unexpected-response', (_request, response) => {
      readProblemCode(response).then(
        (code) => {
          const detail = `HTTP ${response.statusCode}`;
          const wait = retryAfterOf(response.headers['retry-after']);
          fail(code, { kind: 'connection_refused', detail }, wait);
          socket.terminate();
        },
        () => socket.terminate(),
      );
    });
    socket.on('error', (error) => fail('', troubleOf(error)));
    socket.on('open', () => {
      write(JSON.stringify(hello));
      resolve({
        ok: true,
        socket: {
          send: (frame) => write(JSON.stringify(frame)),
          sendText: write,
          close(reason) {
            if (reason !== undefined) write(JSON.stringify({ type: 'goodbye', reason }));
            socket.close(1000);
          },
        },
      });
    });
    socket.on('message', (data, isBinary) => {
      const frame = isBinary ? null : frameOf(String(data));
      if (frame === null) return;
      if (frame.type === 'ping') {
        write(JSON.stringify({ type: 'pong', at: frame.at, instance_id: client.instanceId }));
      }
      handlers.onFrame(frame);
    });
    socket.on('close', (code, reason) => {
      agent.destroy();
      fail('', { kind: 'connection_lost', detail: `closed with ${code}` });
      handlers.onClosed(String(reason), code);
    });
  });
}

/**
 * A frame from its text. A frame of an unknown type is ignored, a newer Console may say more; so is one whose fields do
 * not fit, because what uses them trusts them. Never throws.
 */
export function frameOf(text: string): DownstreamFrame | null {
  const json = parseJson(text);
  if (!json.ok || !isObject(json.value)) return null;
  const frame = PARSERS.get(json.value['type'])?.(json.value);
  return frame?.ok === true ? frame.value : null;
}

// A newer Console may name more to refresh than this list knows: what is known of it counts.
function refreshOf(value: unknown): Parsed<DownstreamFrame> {
  if (!isObject(value) || !Array.isArray(value['what'])) return checkRefresh(value);
  const words: readonly unknown[] = RefreshFrame.properties.what.items.enum;
  return checkRefresh({ ...value, what: value['what'].filter((word) => words.includes(word)) });
}

async function readProblemCode(response: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const chunk of response) {
    text += chunk.toString('utf8');
    if (text.length > 16_384) break;
  }
  return problemCodeOf(text);
}
