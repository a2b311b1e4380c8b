// The effects of the root machine: opens what is on disk, decides with the machine, and starts and stops the rest.
import { type EventFromLogic, fromPromise, toPromise } from 'xstate';
import { watchWallClock } from '../../actors/runtime/clock-watch.ts';
import type { Logger } from '../../actors/runtime/logger.ts';
import type { WheelClock } from '../../actors/runtime/wheel-clock.ts';
import { SKEW_TOLERATED_MS } from '../../machines/limits.ts';
import type { EnrollmentAttempt } from '../../machines/sensor/enrollment.rules.ts';
import {
  EMPTY_LOSS_LEDGER,
  hourOf,
  lossesIn,
  lossesSince,
} from '../../machines/sensor/loss-ledger.rules.ts';
import { nodeMachine } from '../../machines/sensor/node.machine.ts';
import { judgeExpiry, type Prepared } from '../../machines/sensor/node.rules.ts';
import { kindOfSecret } from '../../machines/trust/secret.rules.ts';
import type { SystemFacts } from '../../machines/wire/enrollment.ts';
import type { SensorConfig } from '../config/config.ts';
import { exportFileIn } from '../engine/export-files.ts';
import { openSpool } from '../spool/spool.ts';
import type { Identity, StateDirectory } from '../state-directory/identity.ts';
import { openStateDirectory } from '../state-directory/state-directory.ts';
import { createFlowTable } from '../telemetry/flows.ts';
import type { Answer } from '../transport/answer.ts';
import { type Collector, startCollector } from './collector.ts';
import { startEngine } from './engine.actor.ts';
import { enroll } from './enrollment.actor.ts';
import { emptyFacts } from './facts.ts';
import { type Forwarding, startForwarding } from './forwarding.ts';
import { openHabits } from './habits.ts';
import { createLossReporter } from './loss-reporter.ts';
import type { NodePorts } from './node-ports.ts';
import { type Parts, startActor } from './parts.ts';
import { type PolicyKeeper, startPolicies } from './policies.ts';
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

/** Of the instance's name, what names its loss reports. */
const RUN_CHARS = 16;

/** Runs a Sensor until it is stopped or cannot go on. */
export function runNode(options: NodeOptions): NodeRun {
  const { config, logger, clock, now, monotonicNow } = options;
  const { files, transport, keyWork } = options.ports;
  const instanceId = options.random(16).toString('hex');
  const seed = options.random(4).readInt32LE();
  const facts = emptyFacts();
  const exportFile = exportFileIn(config.stateDir);
  const statusFile = createStatusFile(files, config.stateDir, now);
  let directory: StateDirectory | null = null;
  let identity: Identity | null = null;
  /** The certificate whose end the two sides saw otherwise; said once. */
  let disputed: string | null = null;
  let parts: Parts | null = null;
  let token: string | null = null;
  let forwarding: Forwarding | null = null;
  let collector: Collector | null = null;
  let engine: ReturnType<typeof startEngine> | null = null;
  let policies: PolicyKeeper | null = null;
  let settledBefore = EMPTY_LOSS_LEDGER.total;
  let statusTimer = 0;
  const onCrash = (kind: string, error: unknown): void => {
    logger.error({ kind, reason: String(error) }, 'an actor failed');
    tellNode({ type: 'stop.requested' });
  };
  // Answers that were under way when the node ended find nobody to tell.
  const tellNode = (event: EventFromLogic<typeof nodeMachine>): void => {
    if (node.getSnapshot().status === 'active') node.send(event);
  };

  async function prepare(): Promise<Prepared> {
    const opened = await openStateDirectory({ path: config.stateDir, files, keyWork, logger });
    if (!opened.ok) throw new Error(opened.detail);
    directory = opened.directory;
    token = await options.readToken();
    const spool = await openSpool({
      path: directory.pathOf('spool'),
      files,
      clock,
      now,
      logger,
      random: () => options.random(16),
      ...(options.spoolEventsMax === undefined ? {} : { eventsMax: options.spoolEventsMax }),
    });
    if (!spool.ok) throw new Error(`the spool: ${spool.detail}`);
    settledBefore = spool.spool.ledger().total;
    const found = await directory.readIdentity();
    identity = found.kind === 'whole' ? found : null;
    const url = identity?.state.console_url ?? config.consoleUrl?.href;
    const client = transport.createClient({
      baseUrl: config.consoleUrl ?? new URL(url ?? 'https://localhost:15483'),
      instanceId,
      proxyUrl: config.proxyUrl,
      identity: { keyPem: null, certPem: null, caPem: null },
      onAnswer: hear,
    });
    const trust = createTrustKeeper({
      config,
      now,
      facts,
      directory,
      onChange: () => forwarding?.report(),
    });
    const habits = await openHabits(options, config.stateDir);
    const own = { seed, directory, habits, spool: spool.spool, client, facts, trust, onCrash };
    const losses = createLossReporter(instanceId.slice(0, RUN_CHARS));
    parts = { ...options, ...own, losses, flows: createFlowTable() };
    if (identity !== null) trust.load(identity.state, identity.notAfterMs);
    showStatus();
    return {
      identity: verdictOf(found.kind),
      hasToken: token !== null && url !== undefined,
      isReenrollment: token !== null && kindOfSecret(token) === 'reenrollment',
      reason: found.kind === 'broken' ? found.reason : NOT_ENROLLED,
    };
  }

  function verdictOf(kind: 'none' | 'whole' | 'broken'): Prepared['identity'] {
    if (kind !== 'whole' || identity === null) return kind;
    if (identity.state.trust_state === 'trust_revoked') return 'revoked';
    return now() > identity.notAfterMs + SKEW_TOLERATED_MS ? 'expired' : 'whole';
  }

  function need<T>(value: T | null, what: string): T {
    if (value === null) throw new Error(`${what} is not there yet`);
    return value;
  }

  async function exchangeToken(): Promise<EnrollmentAttempt> {
    const own = need(parts, 'the state');
    const spent = need(token, 'a token');
    token = null;
    const consoleUrl = own.client.baseUrl;
    const onInstalled = (installed: Identity): void => {
      identity = installed;
    };
    return enroll({ ...own, instanceId, consoleUrl, onInstalled }, spent);
  }

  // What an answer teaches about the way and about trust. Only `sensor_revoked` revokes. invariant: I12
  function hear(_path: string, answer: Answer): void {
    if (answer.ok) return;
    if (answer.kind === 'refused') {
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
      tellNode({ type: 'certificate.expired' });
      return;
    }
    if (disputed === identity.certPem) return;
    disputed = identity.certPem;
    const until = new Date(identity.notAfterMs).toISOString();
    logger.warn(
      { until, now: new Date(now()).toISOString() },
      'the Console calls this certificate expired, and by the clock of this node it is not: one of the clocks is wrong',
    );
  }

  // A clock that was ahead is right again: what it called expired is not.
  function hearClock(): void {
    if (identity === null || judgeExpiry(identity.notAfterMs, now()) === 'expired') return;
    tellNode({ type: 'certificate.valid' });
  }

  async function startCollecting(): Promise<void> {
    const own = need(parts, 'the state');
    const sensorId = (): string => identity?.sensorId ?? '';
    // In force from the engine's first moment.
    policies ??= await startPolicies(own, () => forwarding?.report());
    engine ??= startEngine(own, exportFile, policies, () => forwarding?.report());
    collector ??= startCollector(own, exportFile, sensorId, () => forwarding?.spooled());
  }

  async function stopCollecting(): Promise<void> {
    const [oldEngine, oldCollector] = [engine, collector];
    await policies?.stop();
    engine = null;
    collector = null;
    policies = null;
    if (oldEngine !== null) {
      const ended = toPromise(oldEngine);
      oldEngine.send({ type: 'stop.requested' });
      await ended.catch(() => undefined);
      // One that was stopped before it took over leaves the one before it behind. decision: D51
      await options.ports.engine.leave?.();
    }
    await oldCollector?.stop();
  }

  function forward(): void {
    if (forwarding !== null || !node.getSnapshot().hasTag('forwards')) return;
    const own = need(parts, 'the state');
    const who = need(identity, 'an identity');
    own.client.useIdentity({ keyPem: who.keyPem, certPem: who.certPem, caPem: who.caPem });
    own.trust.load(who.state, who.notAfterMs);
    forwarding = startForwarding(own, who, {
      onRevoked: () => tellNode({ type: 'sensor.revoked' }),
      onExpired: hearExpired,
    });
  }

  function stopForwarding(reason: string): void {
    forwarding?.stop(reason);
    forwarding = null;
  }

  async function stopEverything(): Promise<void> {
    stopForwarding('stopping');
    await stopCollecting();
    clock.clearTimeout(statusTimer);
    stopClockWatch();
    await parts?.habits.close();
    await parts?.spool.close();
    facts.state = 'stopped';
    if (parts !== null) await saveStatus(parts);
    parts?.client.close();
    await directory?.close();
  }

  const saveStatus = ({ spool }: Parts): Promise<void> =>
    statusFile.write(
      facts,
      { depth: spool.depth(), discarded: spool.discarded(), settled: spool.ledger().total },
      {
        this_hour: lossesIn(spool.ledger(), hourOf(now())),
        since_start: lossesSince(spool.ledger().total, settledBefore),
      },
    );
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
      clock,
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
        startCollecting: fromPromise<unknown, undefined>(startCollecting),
        stopEverything: fromPromise<unknown, undefined>(stopEverything),
      },
      actions: {
        // Actors are not started inside an action of another one: the library would take their set-up for its own.
        startForwarding: () => queueMicrotask(forward),
        stopForwarding: ({ event }) => stopForwarding(event.type),
        stopCollecting: () => void stopCollecting(),
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

const NOT_ENROLLED =
  'this node is not enrolled: give --url, --ca-fingerprint and --token-file FILE (- for stdin)';
const SENTENCES: Readonly<Record<string, string>> = {
  enrolling: 'enrolling',
  running: 'running: events are collected and forwarded',
  awaiting_reenrollment: 'certificate expired: re-enroll; events are kept until then',
  revoked: 'revoked by the Console: nothing is collected or sent any more',
};
