// The Console's own actors (supervised databases, shared budgets) seen as directories, so that operators find them
// beside the sensors.
import type { DirectoryView } from '../plumbing/deps.ts';

/** Anything with an actor to look at. */
export type Supervised = {
  readonly actor: {
    getSnapshot(): unknown;
    subscribe(listener: (snapshot: unknown) => void): unknown;
  };
};
type Held = { readonly store: Supervised; sinceMs: number; restarts: number; value: string };

export type StoreView = DirectoryView & {
  /** Follows one more store. */
  add(name: string, store: Supervised): void;
};

/** Makes an empty view. `now` is the wall clock, `kind` the id of the machine. */
export function createStoreView(now: () => number, kind = 'store-process'): StoreView {
  const held = new Map<string, Held>();
  return {
    kind,
    ids: () => held.keys(),
    size: () => held.size,
    ask(id) {
      const own = held.get(id);
      if (own === undefined) return 'absent';
      const { store, sinceMs, restarts, value } = own;
      return {
        id,
        snapshot: store.actor.getSnapshot(),
        sinceMs,
        lastEvent: `entered ${value}`,
        restarts,
      };
    },
    add(name, store) {
      const value = () => stateOf(store.actor.getSnapshot());
      const own: Held = { store, sinceMs: now(), restarts: 0, value: value() };
      held.set(name, own);
      store.actor.subscribe(() => {
        const next = value();
        if (next === own.value) return;
        own.value = next;
        own.sinceMs = now();
        // Every start but the first is a restart.
        if (next === 'starting') own.restarts += 1;
      });
    },
  };
}

// The outer state: a probe every few seconds is not news.
function stateOf(snapshot: unknown): string {
  const { value } = snapshot as { value?: unknown };
  if (typeof value === 'object' && value !== null) return Object.keys(value).join('+');
  return String(value);
}
