// What the Sensor's actors share: built once by the composition root, handed to each of them.

import type { Actor } from 'xstate';
import { type AnyStateMachine, createActor, type InputFrom } from 'xstate';
import type { Logger } from '../../actors/runtime/logger.ts';
import type { WheelClock } from '../../actors/runtime/wheel-clock.ts';
import type { SystemFacts } from '../../machines/wire/enrollment.ts';
import type { SensorConfig } from '../config/config.ts';
import type { Spool } from '../spool/spool-port.ts';
import type { StateDirectory } from '../state-directory/identity.ts';
import type { ConsoleClient } from '../transport/console-client.ts';
import type { SensorFacts } from './facts.ts';
import type { MachineBook } from './machine-book.ts';
import type { NodePorts } from './node-ports.ts';
import type { TrustKeeper } from './trust.ts';

export type Parts = {
  readonly config: SensorConfig;
  readonly logger: Logger;
  readonly clock: WheelClock;
  readonly now: () => number;
  /** Milliseconds that never go back. */
  readonly monotonicNow: () => number;
  /** Seeds the jitter of this process. */
  readonly seed: number;
  readonly version: string;
  readonly bootId: string;
  readonly system: SystemFacts;
  readonly ports: NodePorts;
  readonly directory: StateDirectory;
  readonly spool: Spool;
  readonly client: ConsoleClient;
  readonly facts: SensorFacts;
  readonly trust: TrustKeeper;
  /** What the statecharts do, for the Console. */
  readonly machines: MachineBook;
  /** An actor failed for good: a programmer's mistake; the node stops. */
  readonly onCrash: (kind: string, error: unknown) => void;
};

/** Starts a root actor on the shared clock, with an error observer; the Console hears of it where there is a book. */
export function startActor<TMachine extends AnyStateMachine>(
  parts: Pick<Parts, 'clock' | 'onCrash'> & Partial<Pick<Parts, 'machines'>>,
  machine: TMachine,
  input: InputFrom<TMachine>,
): Actor<TMachine> {
  const timers = parts.machines?.timersOn(parts.clock);
  const actor = createActor(machine, {
    ...{ id: machine.id, input },
    clock: (timers?.clock ?? parts.clock) as never,
  } as never);
  timers?.follow(actor.system);
  actor.subscribe({ error: (error) => parts.onCrash(machine.id, error) });
  actor.start();
  if (timers !== undefined) {
    parts.machines?.follow(machine.id, actor as unknown as Actor<AnyStateMachine>, timers);
  }
  return actor;
}
