// Some calls ask a person for credentials shown lately. Such a call waits here until they were shown again, then goes on.
import { createStore } from '@xstate/store-react';

type Waiting = { readonly settle: (isShown: boolean) => void };

export const freshAsked = createStore({
  context: { waiting: null as Waiting | null },
  on: { moved: (_context, event: { waiting: Waiting | null }) => ({ waiting: event.waiting }) },
});

/** Resolves to whether the credentials were shown; a second question while one stands is answered with no. */
export function askFresh(): Promise<boolean> {
  if (freshAsked.getSnapshot().context.waiting !== null) return Promise.resolve(false);
  return new Promise((resolve) => {
    freshAsked.trigger.moved({
      waiting: {
        settle(isShown) {
          freshAsked.trigger.moved({ waiting: null });
          resolve(isShown);
        },
      },
    });
  });
}
