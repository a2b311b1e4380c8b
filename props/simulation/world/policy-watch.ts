// Watches what is said of packs: in heartbeats and their answers as they pass a Console's edge, and in the commits that
// move rollouts.
import type { RolloutRow } from '../../../machines/console/policy/book.rules.ts';
import type { HeartbeatRequest, HeartbeatResponse } from '../../../machines/wire/heartbeat.ts';
import type { Calls } from '../../../storage/memory/plumbing/unsafe-port-of.ts';
import type { PolicyStore } from '../../../storage/ports/policy/policy-store.ts';
import type { Observation } from './observation.ts';
import type { World } from './world.ts';

const SAID = '"policy":{';
const OFFERED = '"pack_assignment":{';

/** Tells what an answered heartbeat said of packs; nothing where there are none. */
export function watchPolicies(
  { world, console }: { readonly world: World; readonly console: string },
  { body }: { readonly body: string },
  answer: { readonly body: string },
  fingerprint: string | null,
): void {
  if (body.includes(SAID)) tellSaid({ world, console }, body, fingerprint);
  if (!answer.body.includes(OFFERED)) return;
  const { pack_assignment: offered } = JSON.parse(answer.body) as HeartbeatResponse;
  if (offered === undefined || 'removed' in offered) return;
  const { pack_id: pack, version, mode, assignment_id: assignment } = offered;
  const wish = { pack, version, mode };
  world.observe({ kind: 'pack.offered', console, fingerprint, assignment, wish });
}

function tellSaid(
  { world, console }: { readonly world: World; readonly console: string },
  body: string,
  fingerprint: string | null,
): void {
  const { policy } = JSON.parse(body) as HeartbeatRequest;
  if (policy?.pack_id === undefined || policy.version === undefined) return;
  const { in_force: held, pack_id: pack, version, state, assignment_id: assignment = '' } = policy;
  const inForce = held === undefined ? null : { pack: held.pack_id, version: held.version };
  const said = { state, assignment, pack, version, inForce };
  world.observe({ kind: 'pack.told', console, fingerprint, ...said });
}

/** The store of policies, where every rollout that moves is told. */
export function observedPolicies(
  calls: Calls<PolicyStore>,
  observe: (observation: Observation) => void,
): Calls<PolicyStore> {
  return {
    ...calls,
    commit(input) {
      const revision = calls.commit(input);
      if (revision === null) return null;
      for (const { rolloutId: rollout, event, to, context } of input.moves ?? []) {
        const change = input.changes.find(({ kind, id }) => kind === 'rollout' && id === rollout);
        const row = (change?.head ?? null) as RolloutRow | null;
        if (row === null) continue;
        const { packId: pack, version, assignmentId: assignment } = row.next;
        const { stage } = context;
        const target = `${row.target.kind}:${row.target.id}`;
        const what = { rollout, target, event, to, stage, assignment, pack, version };
        observe({ kind: 'rollout.moved', ...what });
      }
      return revision;
    },
  };
}
