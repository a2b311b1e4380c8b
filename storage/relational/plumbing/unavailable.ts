// Which database errors mean "cannot answer now" (the caller answers 503) and which are our own mistakes, which stay
// what they are and are seen.
import { StoreUnavailable } from '../../ports/plumbing/store-unavailable.ts';

const SOCKET_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);
/** SQLSTATE classes: connection, authorization, unknown database, rollback by contention, resources, intervention, system. */
const SQLSTATE_CLASSES: ReadonlySet<string> = new Set(['08', '28', '3D', '40', '53', '57', '58']);
const SQLSTATES: ReadonlySet<string> = new Set(['55P03', '25P03', '25006']);
/** node-postgres gives these no code. */
const TEXTS =
  /terminated|timeout|timed out|Client has encountered a connection error|Client was closed|after calling end|not queryable/i;

/** Whether an error means the database cannot answer now. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  if (code === null) return TEXTS.test(error.message) || isManyFold(error);
  return SOCKET_CODES.has(code) || SQLSTATES.has(code) || SQLSTATE_CLASSES.has(code.slice(0, 2));
}

/** Node wraps the attempts on several addresses of one name. */
function isManyFold(error: Error): boolean {
  return error instanceof AggregateError && error.errors.some(isUnavailable);
}

/** Runs a database call; what means "away" is thrown as StoreUnavailable, everything else as it is. */
export async function orUnavailable<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof StoreUnavailable || !isUnavailable(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreUnavailable(`the database cannot answer: ${reason}`, { cause: error });
  }
}
