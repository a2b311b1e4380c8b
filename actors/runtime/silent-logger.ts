// A logger that says nothing, for programs run inside tests and benches.
import type { Logger } from './logger.ts';

const nothing = (): void => {};

export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silentLogger,
};
