// The effects of the root machine: opens what is on disk, decides with the machine, and starts and stops the rest.
import { type AnyActorRef, type EventFromLogic, fromPromise, toPromise } from 'xstate';
import { watchWallClock } from '../../actors/runtime/clock-watch.ts';
import type { Logger } from '../../actors/runtime/logger.ts';
import type { WheelClock } from '../../actors/runtime/wheel-clock.ts';
import { SKEW_TOLERATED_MS } from '../../machines/limits.ts';
import type { EnrollmentAttempt } from '../../machines/sensor/enrollment.rules.ts';
import { nodeMachine } from '../../machines/sensor/node.machine.ts';
import { judgeExpiry, type Prepared } from '../../machines/sensor/node.rules.ts';
import { kindOfSecret } from '../../machines/trust/secret.rules.ts';
import type { SystemFacts } from '../../machines/wire/enrollment.ts';
import type { SensorCapability, SensorContext } from '../capability.ts';
import type { SensorConfig } from '../config/config.ts';
import { exportFileIn } from '../engine/export-files.ts';
import { openSpool } from '../spool/spool.ts';
import type { Identity, StateDirectory } from '../state-directory/identity.ts';
import { openStateDirectory } from '../state-directory/state-directory.ts';
import type { DatedAnswer } from '../transport/console-client.ts';
import { createClockDispute } from './clock-dispute.ts';
import { enroll } from './enrollment.actor.ts';
import { emptyFacts } from './facts.ts';
import { isForgotten } from './forgotten-identity.ts';
import { type Forwarding, startForwarding } from './forwarding.ts';
import { createMachineBook } from './machine-book.ts';
import type { NodePorts } from './node-ports.ts';
import { createOpenedList } from './opened.ts';
import { startActor } from './parts.ts';
import { createStatusFile } from './status-file.ts';
import { createTrustKeeper } from './trust.ts';

export type NodeOptions = {
  readonly config: SensorConfig;
  readonly logger: Logger;
  readonly clock: WheelClock;
  readonly now: () => number;
  /** Milliseconds that never go back. */
  readonly monotonicNow: () => number;
  readonly random: (bytes: number) => Buffer;
  readonly version: string;
  readonly bootId: string;
  readonly system: SystemFacts;
  readonly ports: NodePorts;
  /** What this Sensor can do. */
  readonly capabilities: readonly SensorCapability[];
  /** Absent: the limit. */
  readonly spoolEventsMax?: number;
  /** Programs whose habits are known at once; absent: the limit. */
  readonly binariesMax?: number;
  /** Reads the token that was given at start; null when there is none. */
  readonly readToken: () => Promise<string | null>;
};
export type NodeRun = {
  stop(): void;
  readonly done: Promise<{ readonly exitCode: number; readonly reason: string | null }>;
};

/** Runs a Sensor until it is stopped or cannot go on. */
export function runNode(options: NodeOptions): NodeRun {
  const { config, logger, clock, now, monotonicNow } = options;
  const { files, transport, keyWork } = options.ports;
  const instanceId = options.random(16).toString('hex');
  const seed = options.random(4).readInt32LE();
  const facts = emptyFacts();
  const machines = createMachineBook(now);
  const exportFile = exportFileIn(config.stateDir);
  const statusFile = createStatusFile(files, config.stateDir, now);
  let directory: StateDirectory | null = null;
  let identity: Identity | null = null;
  let parts: SensorContext | null = null;
  const opened = createOpenedList();
  let token: string | null = null;
  let forwarding: Forwarding | null = null;
  let statusTimer = 0;
  const dispute = createClockDispute({
    ...{ now, facts, logger },
    askClock: async () => askClock(options, parts?.client ?? null, identity),
  });
  // Judged, and gone on with, is what is presented now, not what was at the start. decision: D67
  const take = (presented: Identity): void => {
    identity = presented;
  };
  const onCrash = (kind: string, error: unknown): void => {
    logger.error({ kind, reason: String(error) }, 'an actor failed');
    tellNode({ type: 'stop.requested' });
  };
  // Answers that were under way when the node ended find nobody to tell.
  const tellNode = (event: EventFromLogic<typeof nodeMachine>): void => {
    if (node.getSnapshot().status === 'active') node.send(event);
  };

  async function prepare(): Promise<Prepared> {
    const found = await openStateDirectory({ path: config.stateDir, files, keyWork, logger });
    if (!found.ok) throw new Error(found.detail);
    directory = found.directory;
    token = await options.readToken();
    const spool = await openSpool({
      path: directory.pathOf('spool'),
      files,
      clock,
      now,
      logger,
      random: () => options.random(16),
      machines,
      ...(options.spoolEventsMax === undefined ? {} : { eventsMax: options.spoolEventsMax }),
    });
    if (!spool.ok) throw new Error(`the spool: ${spool.detail}`);
    const kept = await directory.readIdentity();
    identity = kept.kind === 'whole' ? kept : null;
    const url = identity?.state.console_url ?? config.consoleUrl?.href;
    const client = transport.createClient({
      baseUrl: config.consoleUrl ?? new URL(url ?? 'https://localhost:15483'),
      instanceId,
      proxyUrl: config.proxyUrl,
      identity: { keyPem: null, certPem: null, caPem: null },
      onAnswer: hear,
    });
    const report = (): void => forwarding?.report();
    const trust = createTrustKeeper({ config, now, facts, directory, onChange: report });
    const context: SensorContext = {
      ...options,
      ...{ seed, directory, spool: spool.spool, client, facts, trust, onCrash, exportFile, report },
      machines,
      sensorId: () => identity?.sensorId ?? '',
      spooled: () => forwarding?.spooled(),
      sendStatus: (status) => forwarding?.sendStatus(status) ?? false,
      revoked: () => tellNode({ type: 'sensor.revoked' }),
      presents: take,
      use: opened.use,
      contributions: opened.contributions,
    };
    parts = context;
    await opened.open(options.capabilities, context);
    if (identity !== null) trust.load(identity.state, identity.notAfterMs);
    showStatus();
    return {
      identity: await verdictOf(kept.kind, client),
      hasToken: token !== null && url !== undefined,
      isReenrollment: token !== null && kindOfSecret(token) === 'reenrollment',
      reason: kept.kind === 'broken' ? kept.reason : NOT_ENROLLED,
    };
  }

  async function verdictOf(kind: 'none' | 'whole' | 'broken', client: SensorContext['client']) {
    if (kind !== 'whole' || identity === null) return kind;
    const verdict = verdictOfWhole(identity, now());
    const isGone =
      verdict === 'whole' && (await isForgotten(client, identity, { config, token, clock }));
    return isGone ? 'forgotten' : verdict;
  }

  async function exchangeToken(): Promise<EnrollmentAttempt> {
    const own = need(parts, 'the state');
    await opened.beforeEnrolling(logger);
    const spent = need(token, 'a token');
    token = null;
    return enroll({ ...own, instanceId, consoleUrl: own.client.baseUrl, onInstalled: take }, spent);
  }

  // What an answer teaches about the way and about trust. Only `sensor_revoked` revokes. invariant: I12
  function hear(_path: string, answer: DatedAnswer): void {
    if (answer.ok) {
      dispute.end();
      return;
    }
    if (answer.kind === 'refused') {
      if (answer.dateMs !== undefined) dispute.hearClock(answer.dateMs);
      if (answer.code === 'sensor_revoked') tellNode({ type: 'sensor.revoked' });
      if (answer.code === 'certificate_expired') hearExpired();
      return;
    }
    const { kind } = answer.trouble;
    parts?.trust.noteTrouble(kind);
    // A peer that closes right behind its alert can hide it; our own clock then tells.
    const isPast = identity !== null && now() >= identity.notAfterMs;
    if (kind === 'certificate_expired' || (kind === 'connection_lost' && isPast)) hearExpired();
  }

  // The Console's clock does not end an identity. decision: D67
  function hearExpired(): void {
    if (identity === null) return;
    if (judgeExpiry(identity.notAfterMs, now()) === 'expired') {
      dispute.end();
      tellNode({ type: 'certificate.expired' });
      return;
    }
    dispute.hear(keyWork.certificateFacts(identity.certPem));
  }

  // A clock that was ahead is right again: what it called expired is not.
  function hearClock(): void {
    if (identity === null || judgeExpiry(identity.notAfterMs, now()) === 'expired') return;
    tellNode({ type: 'certificate.valid' });
  }

  function forward(): void {
    if (forwarding !== null || !node.getSnapshot().hasTag('forwards')) return;
    const own = need(parts, 'the state');
    const who = need(identity, 'an identity');
    own.client.useIdentity({ keyPem: who.keyPem, certPem: who.certPem, caPem: who.caPem });
    own.trust.load(who.state, who.notAfterMs);
    forwarding = startForwarding(own, who, hearExpired);
  }

  function stopForwarding(reason: string): void {
    forwarding?.stop(reason);
    forwarding = null;
  }

  async function stopEverything(): Promise<void> {
    stopForwarding('stopping');
    await opened.stopCollecting();
    clock.clearTimeout(statusTimer);
    stopClockWatch();
    await opened.close();
    await parts?.spool.close();
    facts.state = 'stopped';
    if (parts !== null) await saveStatus(parts);
    parts?.client.close();
    await directory?.close();
  }

  const saveStatus = ({ spool }: SensorContext): Promise<void> => {
    const contributions = opened.contributions();
    const running = [
      node,
      ...(forwarding?.actors() ?? []),
      ...contributions.flatMap(({ actors }) => actors?.() ?? []),
    ];
    return statusFile.write(
      facts,
      { depth: spool.depth(), discarded: spool.discarded(), settled: spool.ledger().total },
      [{ actors: statesOf(running) }, ...contributions.map(({ status }) => status?.() ?? {})],
    );
  };
  function showStatus(): void {
    parts?.trust.refresh();
    if (parts !== null) void saveStatus(parts);
    statusTimer = clock.setTimeout(showStatus, 4 * config.intervals.STREAM_TICK_MS);
  }

  const stopClockWatch = watchWallClock({
    clock,
    now,
    monotonicNow,
    onJump: () => {
      forwarding?.onClockJump();
      hearClock();
    },
  });

  const node = startActor(
    {
      ...{ clock, now, machines },
      onCrash: (kind, error) => logger.error({ kind, reason: String(error) }, 'the root failed'),
    },
    nodeMachine.provide({
      actors: {
        prepare: fromPromise<Prepared, undefined>(prepare),
        enroll: fromPromise<EnrollmentAttempt, undefined>(exchangeToken),
        lookForToken: fromPromise<boolean, undefined>(async () => {
          token ??= await statusFile.takeToken();
          hearClock();
          return token !== null;
        }),
        startCollecting: fromPromise<unknown, undefined>(opened.startCollecting),
        stopEverything: fromPromise<unknown, undefined>(stopEverything),
      },
      actions: {
        // Actors are not started inside an action of another one: the library would take their set-up for its own.
        startForwarding: () => queueMicrotask(forward),
        stopForwarding: ({ event }) => stopForwarding(event.type),
        stopCollecting: () => void opened.stopCollecting(),
        rememberRevoked: () => parts?.trust.noteRevoked(),
        tellRefused: (_, { reason }) => logger.warn({ reason }, 'the token was refused'),
        tellState: (_, { state }) => {
          facts.state = state;
          logger.info({ state }, SENTENCES[state] ?? state);
          if (parts !== null) void saveStatus(parts);
        },
      },
    }),
    {
      tokenCheckMs: Math.min(5_000, config.intervals.RECONNECT_BACKOFF_MAX_MS),
      stopTimeoutMs: config.intervals.STOP_TIMEOUT_MS,
    },
  );
  return {
    stop: () => tellNode({ type: 'stop.requested' }),
    done: toPromise(node),
  };
}

async function askClock(
  { config, ports }: NodeOptions,
  client: SensorContext['client'] | null,
  identity: Identity | null,
): Promise<number | null> {
  if (client === null || identity === null) return null;
  const { proxyUrl, intervals } = config;
  const how = { proxyUrl, timeoutMs: intervals.HEARTBEAT_TIMEOUT_MS };
  return ports.transport.askConsoleClock(client.baseUrl, identity.caPem, how);
}

function need<T>(value: T | null, what: string): T {
  if (value === null) throw new Error(`${what} is not there yet`);
  return value;
}

function verdictOfWhole({ state, notAfterMs }: Identity, nowMs: number) {
  if (state.trust_state === 'trust_revoked') return 'revoked';
  return nowMs > notAfterMs + SKEW_TOLERATED_MS ? 'expired' : 'whole';
}

const NOT_ENROLLED =
  'this node is not enrolled: give --url, --ca-fingerprint and --token-file FILE (- for stdin)';
const SENTENCES: Readonly<Record<string, string>> = {
  enrolling: 'enrolling',
  running: 'running: events are collected and forwarded',
  awaiting_reenrollment: 'certificate expired: re-enroll; events are kept until then',
  revoked: 'revoked by the Console: nothing is collected or sent any more',
};

/** The state of each by the name of its statechart. */
function statesOf(actors: readonly AnyActorRef[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(actors.map((one) => [one.id, one.getSnapshot().value]));
}
