// What the product's processes say. Nobody reads it in a run that holds, but an error is a finding: the product logs one
// only when something happened that its author did not expect.
import type { Logger } from '../../../actors/runtime/logger.ts';
import type { Life } from './life.ts';
import type { World } from './world.ts';

/** Errors that a fault explains. */
const EXPLAINED: readonly RegExp[] = [
  /^an audit entry was not written/,
  /^a sensor actor could not be rebuilt/,
  // A receiver refused it for good.
  /^a delivery is dead/,
  // The key that signed them was retired; an altered file would say something else. decision: D79
  /^policies that were in force are not what was kept.*by a trusted key/,
  // That start has tidied the body away, and the next one finds none.
  /^policies that were in force are not what was kept.*does not fit the form of a pack/,
];

/** Makes the logger of one life. */
export function worldLogger(world: World, host: string, life: Life): Logger {
  const nothing = (): void => undefined;
  const logger: Logger = {
    debug: nothing,
    info: nothing,
    warn: nothing,
    error(fields: Readonly<Record<string, unknown>> | string, text?: string) {
      if (!life.isAlive()) return;
      const whole = `${text ?? String(fields)} ${JSON.stringify(fields)}`;
      if (EXPLAINED.some((one) => one.test(whole))) return;
      world.crashed(host, whole);
    },
    child: () => logger,
  };
  return logger;
}
