// Where nothing fails, a receiver that took a delivery is not sent it again: what came of an attempt is written, and not
// found out by the end of its lease. After the first accident at least once is all that is promised. decision: D101
import type { CheckerKind } from './checker.ts';

export const takenOnce: CheckerKind = {
  name: 'taken-once',
  promise: 'As long as nothing fails, nothing that a receiver took comes again.',
  make(_fleet, report) {
    const taken = new Set<string>();
    let isUndisturbed = true;
    return {
      observe(observation) {
        if (observation.kind === 'fault') isUndisturbed = false;
        if (observation.kind !== 'webhook.received' || !isUndisturbed) return;
        const { receiver, delivery, status } = observation.seen;
        if (receiver === null || status === null || status >= 300) return;
        const key = `${receiver} ${delivery}`;
        if (taken.has(key)) report(`${receiver} took ${delivery}, and got it again`);
        taken.add(key);
      },
    };
  },
};
