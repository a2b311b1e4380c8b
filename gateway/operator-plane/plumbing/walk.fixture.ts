// A way through the routes of a capability that change something: each is called once by somebody who may. It stands beside
// the routes as `walk.fixture.ts`, and `props/attacks/walk-list.ts` names it; `props/attacks/traces.test.ts` goes all of them
// and holds the audit trail to what was done. decision: D35, D174
import type { RelationalStores } from '../../../storage/ports/stores.ts';

/** What an answer tells. */
export type Told = { readonly body: Readonly<Record<string, unknown>> };
export type WalkPlace = {
  /** Calls a route under the API's prefix; `id` and `item` stand for its parameters. */
  readonly step: (
    method: string,
    url: string,
    body?: unknown,
    more?: { readonly id?: string; readonly item?: string },
  ) => Promise<Told>;
  /** An enrolled sensor. */
  readonly sensorId: string;
  readonly relational: RelationalStores;
  readonly now: () => number;
  /** Of the Console that does periodic work. */
  readonly epoch: () => number;
  /** Adds an analyst and gives the address. */
  readonly addAnalyst: () => Promise<string>;
  /** What is given to show elsewhere: no trail may hold it. */
  readonly hide: (secret: string) => void;
};
export type Walk = (place: WalkPlace) => Promise<void>;
