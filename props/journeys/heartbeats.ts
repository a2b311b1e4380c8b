// A peer that sends heartbeats with events the way a Sensor does: one number at a time, the same batch again until it is
// acknowledged. It remembers every answer.
import {
  heartbeatBody,
  keepAliveAgent,
  madeEvent,
  type Pair,
  type PeerAnswer,
  post,
} from './peer.ts';
import type { Home } from './programs.ts';

const STREAM_ID = 'b'.repeat(32);
const EVENTS_EACH = 2;
const PAUSE_MS = 250;

export type BeatAnswer = PeerAnswer & {
  readonly sequence: number;
  readonly sentAtMs: number;
  readonly gotAtMs: number;
};
export type Beating = {
  answers(): readonly BeatAnswer[];
  /** The highest number that was acknowledged. */
  acknowledged(): number;
  stop(): Promise<void>;
};

/** Starts to beat. A request that gets no answer at all is repeated too. */
export function startBeating(
  home: Home,
  options: { readonly pair: Pair; readonly expiresAt: string },
): Beating {
  const { pair, expiresAt } = options;
  const agent = keepAliveAgent();
  const answers: BeatAnswer[] = [];
  let acknowledged = 0;
  let isStopping = false;
  let body: ReturnType<typeof heartbeatBody> | null = null;

  async function beat(): Promise<void> {
    const sequence = acknowledged + 1;
    const first = sequence * EVENTS_EACH;
    const events = Array.from({ length: EVENTS_EACH }, (_, at) => madeEvent(first + at));
    body ??= heartbeatBody(STREAM_ID, sequence, events, expiresAt);
    const sentAtMs = Date.now();
    const answer = await post(home, { path: '/sensors/heartbeat', body, pair, agent });
    answers.push({ ...answer, sequence, sentAtMs, gotAtMs: Date.now() });
    if (answer.status === 200 && answer.body['acknowledged_sequence'] === sequence) {
      acknowledged = sequence;
      body = null;
    }
  }

  const running = (async () => {
    while (!isStopping) {
      await beat().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    agent.destroy();
  })();
  return {
    answers: () => answers,
    acknowledged: () => acknowledged,
    async stop() {
      isStopping = true;
      await running;
    },
  };
}
