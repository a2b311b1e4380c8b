import { type EventObject, fromPromise } from 'xstate';

/**
 * An effect slot that a machine names and only a shell fills.
 * Calling it unfilled is a programmer error. decision: D3
 */
export function unprovided<TParams = undefined>(name: string) {
  return (_args: unknown, _params: TParams): void => {
    throw new Error(`effect "${name}" was not provided`);
  };
}

/** An actor slot that only a shell fills; started unfilled it fails. decision: D3 */
export function unprovidedActor<
  TOutput,
  TInput = undefined,
  TEmitted extends EventObject = EventObject,
>(name: string) {
  return fromPromise<TOutput, TInput, TEmitted>(() =>
    Promise.reject(new Error(`actor "${name}" was not provided`)),
  );
}
