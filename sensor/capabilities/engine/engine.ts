// The engine: its process is watched, restarted and replaced; what it says of itself is told. decision: D50, D51
import { toPromise } from 'xstate';
import { membersText } from '../../actors/heartbeat-body.ts';
import type { SensorCapability, SensorContext, Told } from '../../capability.ts';
import { policy } from '../policy/policy.ts';
import { startEngine } from './engine.actor.ts';
import { rememberTrials } from './engine-trials.ts';
import { engineWithin } from './engine-within.ts';

export const engine: SensorCapability<null> = {
  name: 'engine',
  open(context) {
    let running: ReturnType<typeof startEngine> | null = null;
    return {
      service: null,
      // On a first run the engine lies on the disk before this node is known to anybody. One that runs is left alone.
      async beforeEnrolling() {
        if (running === null) await rememberTrials(context).unpack();
      },
      collect() {
        const { keeper } = context.use(policy);
        const own = startEngine(context, context.exportFile, keeper(), context.report);
        running = own;
        return async () => {
          running = null;
          const ended = toPromise(own);
          own.send({ type: 'stop.requested' });
          await ended.catch(() => undefined);
          // One that was stopped before it took over leaves the one before it behind. decision: D51
          await context.ports.engine.leave?.();
        };
      },
      forward: () => ({ heartbeat: tellEngine(context) }),
      actors: () => (running === null ? [] : [running]),
      status: () => ({ engine: context.facts.engine }),
    };
  },
};

/** What the engine says, shortened when it is too long; that it is, is said once. */
function tellEngine({ facts, logger }: Pick<SensorContext, 'facts' | 'logger'>): () => Told {
  let isShortened = false;
  return () => {
    const told = engineWithin(facts.engine);
    if (told !== facts.engine && !isShortened) {
      logger.warn('what the engine says is too long and is told shortened');
    }
    isShortened = told !== facts.engine;
    return { text: membersText({ engine: told }) };
  };
}
