// The age of the view of identities on a real database whose every answer is late: nobody may be told of a proof that is
// younger than the question it answers. invariant: I3
import { describe, expect, it } from 'vitest';
import type { openRealRelational } from './real-stores.ts';

const LATE_MS = 400;
/** Timers may be early by a little. */
const SLACK_MS = 20;
const NEW_PROOFS = 2;
const PATIENT = { timeout: 60_000, interval: 5 };

export function identityWatchContract(
  control: () => Awaited<ReturnType<typeof openRealRelational>>,
): void {
  describe('a watch of identities whose answers are late', () => {
    it('should never say that its proof is younger than the answer was late', async () => {
      const { relay, relational } = control();
      relay.delayAnswers(LATE_MS);
      try {
        const nothing = () => undefined;
        const watch = await relational.sensors.watchIdentities({
          ...{ onChange: nothing, onLost: nothing, onRestored: nothing },
        });
        const ages = [watch.provenAgoMs()];
        const newProofs = () => {
          ages.push(watch.provenAgoMs());
          return ages.filter((one, at) => one < (ages[at - 1] ?? 0)).length;
        };
        await expect.poll(newProofs, PATIENT).toBeGreaterThanOrEqual(NEW_PROOFS);
        await watch.stop();
        expect(Math.min(...ages)).toBeGreaterThanOrEqual(LATE_MS - SLACK_MS);
      } finally {
        relay.delayAnswers(0);
      }
    });
  });
}
