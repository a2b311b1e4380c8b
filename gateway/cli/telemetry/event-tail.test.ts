// A tail of events by example, in this process against the real listener: what it does when its channel is refused or cut.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { COMMAND_TIMEOUT_MS } from '../../../machines/limits.ts';
import {
  type Listening,
  listenWithFixture,
} from '../../operator-plane/plumbing/listening.fixture.ts';
import { NOW_MS, storedEvent } from '../../operator-plane/plumbing/operator-plane.fixture.ts';
import { createClient } from '../plumbing/client.ts';
import { saveContext } from '../plumbing/context-file.ts';
import { runProgram } from '../plumbing/program.ts';
import { wordsOf } from '../plumbing/words.fixture.ts';
import { followEvents } from './event-follow.ts';

let live: Listening;
let home: string;
let env: Record<string, string>;

beforeAll(async () => {
  live = await listenWithFixture();
  home = mkdtempSync(join(tmpdir(), 'tail-'));
});
afterAll(async () => {
  await live.close();
  rmSync(home, { recursive: true, force: true });
});
beforeEach(() => {
  live.fixture.state.events.length = 0;
  env = { XDG_CONFIG_HOME: home };
  const token = live.fixture.addKey(['events:read']);
  saveContext(env, 'local', { url: live.url, token, ca_pem: live.caPem });
});

async function run(line: string, more: { readonly signal: AbortSignal; onOut(): void }) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runProgram(wordsOf(line), {
    env,
    terminal: {
      out(text) {
        out.push(text);
        more.onOut();
      },
      talk: (text) => void err.push(text),
      isInteractive: false,
      colors: pc.createColors(false),
    },
    now: () => NOW_MS + 90_000,
    signal: more.signal,
    ask: async () => '',
  });
  return { code, out, err: err.join('\n') };
}

describe('a tail', () => {
  it('should open a channel again that was cut off before it said anything', async () => {
    live.fixture.state.events.push(storedEvent(1));
    const { open } = live.hub;
    let opened = 0;
    const cutOnce: typeof open = (socket, operator) => {
      opened += 1;
      const session = open(socket, operator);
      if (opened === 1) setImmediate(() => socket.end(1_013, 'cut off'));
      return session;
    };
    Object.assign(live.hub, { open: cutOnce });
    const stop = new AbortController();

    const { code, err } = await run('events tail -o compact', {
      signal: stop.signal,
      onOut: () => stop.abort(),
    });
    Object.assign(live.hub, { open });

    expect([code, opened]).toEqual([0, 2]);
    expect(err).not.toContain('No live channel');
  });

  it('should poll when a channel says nothing', async () => {
    live.fixture.state.events.push(storedEvent(1));
    const { open } = live.hub;
    const silent: typeof open = () => ({ onMessage: () => undefined, onClose: () => undefined });
    Object.assign(live.hub, { open: silent });
    const token = live.fixture.addKey(['events:read']);
    const stop = new AbortController();
    const seen: string[] = [];
    const said: string[] = [];

    await followEvents({
      client: createClient({ url: live.url, token, ca: live.caPem }, COMMAND_TIMEOUT_MS),
      ...{ filter: {}, last: 5, answerTimeoutMs: 200, signal: stop.signal },
      talk: (line) => void said.push(line),
      onEvent(event) {
        seen.push(event.event_id);
        setImmediate(() => stop.abort());
      },
    });
    Object.assign(live.hub, { open });

    expect(seen).toEqual([storedEvent(1).event_id]);
    expect(said.join()).toContain('No live channel, it is silent');
  });

  it('should poll while there is no live channel and miss nothing', async () => {
    const { state } = live.fixture;
    state.events.push(storedEvent(2));
    const stop = new AbortController();
    let lines = 0;
    // Full of sessions: the channel is refused, the search is not.
    const size = live.hub.size;
    Object.assign(live.hub, { size: () => Number.POSITIVE_INFINITY });

    const tail = run('events tail -o compact', {
      signal: stop.signal,
      onOut: () => {
        lines += 1;
        if (lines === 1) state.events.push(storedEvent(1));
        if (lines === 2) stop.abort();
      },
    });
    const { code, out, err } = await tail;
    Object.assign(live.hub, { size });

    expect(code).toBe(0);
    expect(err).toContain('No live channel');
    expect(out.map((line) => line.slice(0, 12))).toEqual(['11:59:58.000', '11:59:59.000']);
  });
});
