// Receivers of webhooks in the simulated world, each with moods: it takes what comes, is busy, fails, says nothing, cuts the
// connection, leads somewhere inside, has moved inside, or refuses for good. The way to them is the product's own guard over
// a network of names and addresses; what arrives is told to the checkers as it was sent. decision: D165
import type { lookup as dnsLookup } from 'node:dns';
import { refuseLiteral, unreachable } from '../../../actors/outbound/guarded-connect.ts';
import { judgedLookup } from '../../../actors/outbound/judged-lookup.ts';
import type { OutboundRequest } from '../../../actors/outbound/outbound-post.ts';
import { DestinationUnreachable } from '../../../actors/outbound/unreachable.ts';
import { WEBHOOK_TIMEOUT_MS } from '../../../machines/limits.ts';
import type { ConsoleHost } from './console-host.ts';
import type { Listeners } from './dial.ts';
import type { Life } from './life.ts';
import type { OutboundWay, Place } from './outbound-way.ts';
import { findSomething, makeWebhook, type Planned, planOf, thingsOf } from './receiver-acts.ts';
import type { WebhookSeen } from './webhook-observation.ts';
import type { World } from './world.ts';

const MOODS = [
  ...(['well', 'well', 'well', 'busy', 'failing', 'silent'] as const),
  ...(['cutting', 'leading', 'moved', 'refusing'] as const),
] as const;
type Mood = (typeof MOODS)[number];
export type Receivers = {
  begin(): void;
  /** Everybody takes what comes, and nothing more happens. */
  heal(): void;
  wayFor(life: Life): OutboundWay;
};

const HASTE_MS = 1_000;
const MOOD_MS = 45_000;
const FOUND_EVERY_MS = 5_000;
const ANSWER_MS = [5, 400] as const;
const BUSY_MAX_SECS = 20;
const INSIDE = ['169.254.169.254', '10.0.0.5', '127.0.0.1', '192.168.1.1', '::1'] as const;

/** Makes so many receivers; none does nothing. */
export function createReceivers(of: {
  readonly world: World;
  readonly consoles: readonly ConsoleHost[];
  readonly listeners: Listeners;
  readonly count: number;
}): Receivers {
  const { world, count } = of;
  const random = world.random.fork('receivers');
  const all = planOf(random, count);
  const things = thingsOf(random);
  const moods = new Map<Planned, Mood>(all.map((one) => [one, 'well']));
  let isHealed = false;

  function change(one: Planned): void {
    world.scheduler.after(random.exponential(MOOD_MS), () => {
      if (isHealed) return;
      moods.set(one, random.pick(MOODS));
      change(one);
    });
  }

  function again(ms: number, act: () => Promise<unknown>): void {
    world.scheduler.after(ms, () => {
      if (isHealed) return;
      act().then(
        () => again(random.exponential(FOUND_EVERY_MS), act),
        (error: unknown) => world.crashed('whoever finds something', error),
      );
    });
  }

  function bring(one: Planned, isFirst: boolean): void {
    world.scheduler.after(HASTE_MS, () => {
      makeWebhook({ ...of, random, isHonest: true }, one).then(
        (stands) => {
          if (!stands) bring(one, isFirst);
          else if (isFirst) change(one);
        },
        (error: unknown) => world.crashed('whoever sets up webhooks', error),
      );
    });
  }

  return {
    begin() {
      for (const one of all) bring(one, true);
      // Who set them up does so again where PostgreSQL may have forgotten them.
      world.subscribe(({ kind }) => {
        if (kind === 'relational.forgot') for (const one of all) bring(one, false);
      });
      if (count > 0) {
        again(HASTE_MS, () => findSomething({ ...of, random, isHonest: true }, things));
      }
    },
    heal() {
      isHealed = true;
      for (const one of all) moods.set(one, 'well');
    },
    wayFor: (life) =>
      wayOf({ world, life, random, all, moodOf: (one) => moods.get(one) ?? 'well' }),
  };
}

type Network = {
  readonly world: World;
  readonly life: Life;
  readonly random: ReturnType<World['random']['fork']>;
  readonly all: readonly Planned[];
  readonly moodOf: (one: Planned) => Mood;
};

function wayOf(of: Network): OutboundWay {
  const { random, all, moodOf } = of;
  const named = (host: string): Planned | undefined => all.find((one) => one.host === host);
  function lookup(host: string): string {
    const one = named(host);
    return one === undefined || moodOf(one) === 'moved' ? random.pick(INSIDE) : one.address;
  }
  const way: OutboundWay = {
    lookup,
    resolve: (host, policy) =>
      new Promise((resolve, reject) => {
        refuseLiteral(host, policy);
        const names = ((name: string, _options: object, done: Resolved) =>
          done(null, [addressOf(way.lookup(name))])) as unknown as typeof dnsLookup;
        judgedLookup(policy, names)(host, { all: true }, (error, found) => {
          if (error !== null) reject(unreachable(host, error));
          else resolve(String((found as unknown as Addresses)[0]?.address));
        });
      }),
    exchange: (to, request) => exchange(of, named(to.host), to, request),
  };
  return way;
}
type Addresses = readonly { readonly address: string; readonly family: number }[];
type Resolved = (error: null, addresses: Addresses) => void;

function addressOf(address: string): Addresses[number] {
  return { address, family: address.includes(':') ? 6 : 4 };
}

/** One request over a connection to an address, whoever is there. */
async function exchange(
  { world, life, random, moodOf }: Network,
  receiver: Planned | undefined,
  { host, address }: Place,
  { headers, body, signal }: OutboundRequest,
): ReturnType<OutboundWay['exchange']> {
  const isThere = receiver !== undefined && receiver.address === address;
  const mood = isThere ? moodOf(receiver) : 'silent';
  const answered = answerOf(mood, random);
  const seen: WebhookSeen = {
    ...{ console: life.host, host, address, receiver: isThere ? receiver.name : null },
    delivery: headers['x-service-delivery'] ?? '',
    signature: headers['x-service-signature'] ?? null,
    ...{ headers: JSON.stringify(headers), body: Buffer.from(body).toString() },
    status: answered.status,
  };
  await life.call(
    'outbound',
    () => world.observe({ kind: 'webhook.received', seen }),
    random.between(...ANSWER_MS),
  );
  const isAnswered = answered.status !== null;
  await life.call(
    'outbound',
    () => undefined,
    isAnswered || mood === 'cutting' ? random.between(...ANSWER_MS) : WEBHOOK_TIMEOUT_MS,
  );
  if (signal.aborted) throw new DestinationUnreachable('told to end', 'timed_out');
  if (mood === 'cutting') throw new DestinationUnreachable(`${host}: cut`, 'unreachable');
  if (answered.status === null) throw new DestinationUnreachable(`${host}: silent`, 'timed_out');
  return { ...answered, status: answered.status, excerpt: mood };
}

function answerOf(mood: Mood, random: Network['random']) {
  const none = { retryAfter: null, location: null };
  if (mood === 'well') return { ...none, status: 204 };
  if (mood === 'busy') {
    return { ...none, status: 429, retryAfter: String(random.between(1, BUSY_MAX_SECS)) };
  }
  if (mood === 'failing') return { ...none, status: 500 };
  if (mood === 'refusing') return { ...none, status: 400 };
  if (mood === 'leading') {
    const inside = random.pick(INSIDE);
    const host = inside.includes(':') ? `[${inside}]` : inside;
    return { ...none, status: 302, location: `https://${host}/latest/meta-data` };
  }
  return { ...none, status: null };
}
