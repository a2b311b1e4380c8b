// What is kept of policies and their rollouts.
import type { PolicyStore } from './policy-store.ts';
import type { RolloutStore } from './rollout-store.ts';

export type PolicyStores = {
  readonly policies: PolicyStore;
  readonly rollouts: RolloutStore;
};
