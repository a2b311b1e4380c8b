// How old the view of identities is said to be, against a PostgreSQL that answers when the test lets it, on a clock that
// goes when the test says so: a proof is as old as the question, however late its answer came. invariant: I3
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import type { IdentityWatch } from '../../ports/fleet/sensor-registry.ts';
import { watchIdentities } from './identity-watch.ts';

/** A message of PostgreSQL: its kind, its length, its content. */
function message(kind: string, content: string): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind, 'latin1');
  head.writeInt32BE(4 + Buffer.byteLength(content), 1);
  return Buffer.concat([head, Buffer.from(content)]);
}
const READY = message('Z', 'I');
const WELCOME = Buffer.concat([message('R', '\0\0\0\0'), READY]);

let server: Server;
let watch: IdentityWatch | null = null;
let nowMs = 0;
let timers: { run(): void; readonly delayMs: number }[] = [];
const sockets = new Set<Socket>();
const waiting: { readonly text: string; answer(): void }[] = [];
let heard = Promise.withResolvers<void>();

/** The next question as it was asked; nothing is answered before `answer()`. */
async function question() {
  while (waiting.length === 0) await heard.promise;
  const next = waiting.shift();
  if (next === undefined) throw new Error('nothing was asked');
  return next;
}
const ask = (text: string, answer: () => void) => {
  waiting.push({ text, answer });
  heard.resolve();
  heard = Promise.withResolvers<void>();
};

function serve(socket: Socket): void {
  sockets.add(socket);
  let isStarted = false;
  let bytes = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (;;) {
      const kindBytes = isStarted ? 1 : 0;
      if (bytes.length < kindBytes + 4) return;
      const end = kindBytes + bytes.readInt32BE(kindBytes);
      if (bytes.length < end) return;
      const [whole, kind] = [
        bytes.subarray(0, end),
        isStarted ? String.fromCharCode(bytes[0] ?? 0) : '',
      ];
      bytes = bytes.subarray(end);
      if (kind === '') {
        isStarted = true;
        ask('connect', () => socket.write(WELCOME));
      } else if (kind === 'Q') {
        const text = whole.subarray(5, -1).toString();
        ask(text, () => socket.write(Buffer.concat([message('C', `${text}\0`), READY])));
      } else socket.end();
    }
  });
}

beforeEach(async () => {
  nowMs = 1_000;
  timers = [];
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  await watch?.stop();
  vi.restoreAllMocks();
  for (const socket of sockets) socket.destroy();
  server.close();
});

/** A watch whose first connection took 300 ms, and its first question 400 ms more. */
async function begun() {
  const scheduled: PromiseWithResolvers<void>[] = [Promise.withResolvers()];
  const { port } = server.address() as AddressInfo;
  const opening = watchIdentities(
    {
      url: `postgres://somebody:nothing@127.0.0.1:${port}/any`,
      logger: silentLogger,
      timers: {
        now: () => nowMs,
        setTimeout(run, delayMs) {
          timers.push({ run, delayMs });
          scheduled.at(-1)?.resolve();
          return timers.length;
        },
        clearTimeout: () => undefined,
      },
    },
    { onChange: () => undefined, onLost: () => undefined, onRestored: () => undefined },
  );
  const connecting = await question();
  nowMs += 300;
  connecting.answer();
  const listening = await question();
  expect(listening.text).toMatch(/^LISTEN /);
  nowMs += 400;
  listening.answer();
  const opened = await opening;
  watch = opened;
  return {
    watch: opened,
    /** Runs what is due, and gives what resolves when something is scheduled again. */
    due() {
      const next = Promise.withResolvers<void>();
      scheduled.push(next);
      timers.shift()?.run();
      return next.promise;
    },
  };
}

describe('the proof that notifications flow', () => {
  it('should be as old as the first question when its answer comes', async () => {
    const { watch } = await begun();
    expect(watch.provenAgoMs()).toBe(400);
    nowMs += 50;
    expect(watch.provenAgoMs()).toBe(450);
  });

  it('should be as old as the last question, not as its answer, and grow until there is one', async () => {
    const { watch, due } = await begun();
    const again = due();
    const asked = await question();
    expect(asked.text).toBe('SELECT 1');
    nowMs += 700;
    expect(watch.provenAgoMs()).toBe(400 + 700);
    asked.answer();
    await again;
    expect(watch.provenAgoMs()).toBe(700);
  });

  it('should be dated anew by a connection that was made after one was lost', async () => {
    const { watch, due } = await begun();
    const lost = due();
    await question();
    for (const socket of sockets) socket.destroy();
    await lost;
    nowMs += 5_000;
    expect(watch.provenAgoMs()).toBe(400 + 5_000);
    const restored = due();
    (await question()).answer();
    const listening = await question();
    nowMs += 900;
    expect(watch.provenAgoMs()).toBe(400 + 5_900);
    listening.answer();
    await restored;
    expect(watch.provenAgoMs()).toBe(900);
  });
});
