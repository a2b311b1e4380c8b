// The capabilities of a running Sensor: opened in the order of the list, closed in reverse. Collecting is started and
// stopped one after the other, however often and in whatever order it is asked for. decision: D59
import type { Logger } from '../../actors/runtime/logger.ts';
import type { Contribution, Opened, SensorCapability, SensorContext } from '../capability.ts';

export type OpenedList = {
  contributions(): readonly Contribution[];
  use: SensorContext['use'];
  open(capabilities: readonly SensorCapability[], context: SensorContext): Promise<void>;
  /** What cannot be laid out now is tried again when events are collected. */
  beforeEnrolling(logger: Pick<Logger, 'warn'>): Promise<void>;
  startCollecting(): Promise<void>;
  stopCollecting(): Promise<void>;
  close(): Promise<void>;
};

/** Nothing is open yet. */
export function createOpenedList(): OpenedList {
  const opened = new Map<string, Opened<unknown>>();
  const stops: (() => Promise<void>)[] = [];
  let isCollecting = false;
  let last: Promise<void> = Promise.resolve();

  function next(work: () => Promise<void>): Promise<void> {
    last = last.catch(() => undefined).then(work);
    return last;
  }

  const contributions = () => [...opened.values()];
  return {
    contributions,
    use<Service>({ name }: Pick<SensorCapability<Service>, 'name'>): Service {
      const found = opened.get(name);
      if (found === undefined) throw new Error(`${name} is not open yet`);
      return found.service as Service;
    },
    async open(capabilities, context) {
      for (const one of capabilities) opened.set(one.name, await one.open(context));
    },
    async beforeEnrolling(logger) {
      for (const { beforeEnrolling } of contributions()) {
        await beforeEnrolling?.().catch((error: unknown) =>
          logger.warn({ reason: String(error) }, 'not all could be laid out before enrolling'),
        );
      }
    },
    startCollecting: () =>
      next(async () => {
        if (isCollecting) return;
        isCollecting = true;
        for (const { collect } of contributions()) {
          const stop = await collect?.();
          if (stop !== undefined) stops.push(stop);
        }
      }),
    // The source first, what drains it last: the words of an engine that ends are still heard.
    stopCollecting: () =>
      next(async () => {
        isCollecting = false;
        for (const stop of stops.splice(0)) await stop();
      }),
    async close() {
      for (const { close } of contributions().reverse()) await close?.();
    },
  };
}
