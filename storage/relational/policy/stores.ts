// The stores of policies in PostgreSQL.
import type { PolicyStores } from '../../ports/policy/stores.ts';
import type { RelationalContext } from '../plumbing/context.ts';
import { createPolicyStore } from './policy-store.ts';
import { createRolloutStore } from './rollout-store.ts';

/** Opens every store of this capability. */
export function openPolicyStores({ db }: RelationalContext): PolicyStores {
  return {
    policies: createPolicyStore(db),
    rollouts: createRolloutStore(db),
  };
}
