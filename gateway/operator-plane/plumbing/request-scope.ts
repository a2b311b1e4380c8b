// What the listener knows of a request and a client cannot set: handed over beside the injected request, in the
// asynchronous context, never in a header. decision: D16
import { AsyncLocalStorage } from 'node:async_hooks';

export type RequestScope = {
  readonly requestId: string;
  readonly remoteAddress: string;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
};

const scopes = new AsyncLocalStorage<RequestScope>();

/** Runs an injected request inside its scope. */
export function runInScope<T>(scope: RequestScope, run: () => T): T {
  return scopes.run(scope, run);
}

/** The scope of the request being served; undefined for one that did not come through the listener. */
export function currentScope(): RequestScope | undefined {
  return scopes.getStore();
}
