// Policy: what lies in `compiled-policies/` is given to the engine, and what became of it is told. decision: D45
import type { SensorCapability } from '../../capability.ts';
import { type PolicyKeeper, startPolicies } from './policies.ts';
import { policyLines } from './policy-lines.ts';

type Policies = {
  /** There while events are collected. */
  keeper(): PolicyKeeper;
};

export const policy: SensorCapability<Policies> = {
  name: 'policy',
  open(context) {
    let running: PolicyKeeper | null = null;
    return {
      service: {
        keeper() {
          if (running === null) throw new Error('the policies are not read yet');
          return running;
        },
      },
      async collect() {
        const keeper = await startPolicies(context, context.report);
        running = keeper;
        return async () => {
          running = null;
          await keeper.stop();
        };
      },
      forward: () => ({
        frames: {
          refresh: ({ what }) => {
            if (what.includes('policy')) context.report();
          },
        },
      }),
      status: () => ({ policies: context.facts.policies }),
    };
  },
  statusRows: (live) => [['POLICIES', ...policyLines(live)]],
  async checks({ config, engine }) {
    const { checkPolicies } = await import('./doctor-policies.ts');
    const found = await checkPolicies(config.stateDir, engine);
    return found.map((one) => ({ name: 'policy', ...one }));
  },
};
