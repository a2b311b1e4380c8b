// The reference stores of this capability, as calls.
import type { PolicyStores } from '../../ports/policy/stores.ts';
import type { MemoryBase } from '../plumbing/base.ts';
import type { StoreCalls } from '../plumbing/unsafe-port-of.ts';
import { policyCalls } from './policy-store.ts';
import { type RolloutMoves, rolloutCalls } from './rollout-store.ts';

/** The calls on empty stores. */
export function policyStores({ record, fence, registry }: MemoryBase): StoreCalls<PolicyStores> {
  const moves: RolloutMoves = new Map();
  return {
    policies: policyCalls({ record, fence, moves }),
    rollouts: rolloutCalls(registry.sensors, moves),
  };
}
