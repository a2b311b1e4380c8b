// The effects of the engine machine: its processes, the look for a newer build of it, and what the Sensor tells of it.
import { type EventFromLogic, fromPromise } from 'xstate';
import {
  type EngineLaidOut,
  type EngineSnapshot,
  engineMachine,
} from '../../../machines/sensor/engine.machine.ts';
import type { EngineBuild } from '../../../machines/sensor/engine.rules.ts';
import { startActor } from '../../actors/parts.ts';
import type { PolicyKeeper } from '../policy/policies.ts';
import { type EngineFailure, engineReport } from './engine-report.ts';
import { createEngineRuns, type EngineParts } from './engine-runs.ts';
import { rememberTrials } from './engine-trials.ts';

/** Starts the engine's watch; `onChange` hears that its state, its restarts or what it lacks is another. */
export function startEngine(
  parts: EngineParts,
  exportFile: string,
  policies: PolicyKeeper,
  onChange: () => void,
) {
  const { config, logger, facts, clock } = parts;
  const launcher = rememberTrials(parts);
  const own = { ...parts, ports: { ...parts.ports, engine: launcher } };
  const runs = createEngineRuns(own, exportFile, policies, send);
  let build: EngineBuild | null = null;
  let failure: EngineFailure | null = null;

  const actor = startActor(
    parts,
    engineMachine.provide({
      actors: {
        unpackEngine: fromPromise<EngineLaidOut, undefined>(async () => {
          const hasFallback = await runs.unpack();
          return { hasFallback, refusals: launcher.refusals() };
        }),
        runEngine: fromPromise<string, undefined>(({ signal }) => runs.run(signal)),
        runNext: fromPromise<string, EngineBuild | null>(async ({ input, signal }) =>
          input === null ? 'there is none' : await runs.runNext(input, signal),
        ),
        stopEngine: fromPromise<unknown, undefined>(async () => {
          await runs.stop();
          await launcher.save();
        }),
        readClock: fromPromise<number, undefined>(async () => parts.monotonicNow()),
      },
      actions: {
        letGo: runs.letGo,
        acceptNext: (_, { build: next }) => {
          logger.info({ before: build?.name, now: next?.name }, 'a newer engine took over');
          runs.accept();
        },
        refuseNext: (_, { build: next, reason }) => {
          logger.warn({ runs: build?.name, newer: next?.name, reason }, 'a newer engine did not');
          if (next !== null) launcher.refuseNext(next, reason);
        },
        fallBack: (_, { reason }) => {
          logger.warn({ reason }, 'a lesser engine takes over');
          launcher.fallBack(reason);
        },
        tellLost: (_, { reason }) => {
          logger.warn({ reason }, 'the engine is lost');
          failure = { kind: launcher.kind(), reason };
        },
        tellRunning: () => {
          logger.info('the engine runs');
          failure = null;
        },
      },
    }),
    {
      startTimeoutMs: config.intervals.ENGINE_START_TIMEOUT_MS,
      hangTimeoutMs: config.intervals.ENGINE_HANG_TIMEOUT_MS,
      minMs: config.intervals.ENGINE_RESTART_BACKOFF_MIN_MS,
      maxMs: config.intervals.ENGINE_RESTART_BACKOFF_MAX_MS,
      windowMs: config.intervals.ENGINE_RESTART_WINDOW_MS,
      seed: parts.seed,
    },
  );

  const tell = (snapshot: EngineSnapshot): void => {
    const before = facts.engine;
    const asked = { kind: launcher.kind(), passedOver: launcher.passedOver(), failure };
    facts.engine = {
      ...engineReport(snapshot, asked),
      loaded_policies: snapshot.hasTag('running') ? policies.loaded() : [],
    };
    const isSame = facts.engine.state === before.state && facts.engine.restarts === before.restarts;
    const lacks = (one: typeof before): string => JSON.stringify([one.kind, one.disabled_hooks]);
    if (!isSame || lacks(facts.engine) !== lacks(before)) onChange();
  };

  // What an engine says, or a look finds, may come when the watch is over.
  function send(news: EventFromLogic<typeof engineMachine>): void {
    if (actor.getSnapshot().status === 'active') actor.send(news);
  }

  let timer = 0;
  async function look(): Promise<void> {
    const found = await launcher.look();
    if (found.state === 'newer') {
      build = found.running;
      send({ type: 'engine.newer', build: found.build });
    } else if (found.state === 'current') {
      send({ type: 'engine.current', refusals: launcher.refusals() });
    }
    if (actor.getSnapshot().status === 'active') await launcher.save();
  }
  function arm(): void {
    if (actor.getSnapshot().status !== 'active') return;
    timer = clock.setTimeout(
      () => void look().finally(arm),
      config.intervals.ENGINE_UPGRADE_LOOK_MS,
    );
  }

  actor.subscribe({ next: tell, complete: () => clock.clearTimeout(timer) });
  tell(actor.getSnapshot());
  arm();
  return actor;
}
