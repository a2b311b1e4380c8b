// What a publisher does once everything works again: it ends the rollouts that are under way, and sees to it that whatever is
// assigned is a version that every engine carries out and nodes trust. Then it says what stands, as it was told.
import { asked } from './keeper-acts.ts';
import { type PersonParts, putAway } from './person.ts';
import { letGrow } from './person-admin.ts';
import { assignTo, publishIn } from './publisher-acts.ts';
import {
  type Desk,
  isGood,
  isOpen,
  type KnownAssignment,
  type KnownRollout,
  type Of,
  readDesk,
  targetText,
} from './publisher-desk.ts';
import { say } from './publisher-rollouts.ts';

/** So long the same has to stand, whoever is asked. */
const STANDING_MS = 60_000;
type Account = { readonly user_id: string; readonly revision: number; readonly status: string };

/** One step of it; whether that was all. */
export async function settle(parts: PersonParts, of: Of, desk: Desk): Promise<boolean> {
  if (!(await openAccounts(parts, of))) return false;
  // It may be the only admin, who brings the license under which the fleet may grow.
  if (!(await letGrow(parts, of.person, of.held))) return false;
  if (!(await readDesk(parts, of, desk))) return false;
  const open = desk.rollouts.filter(isOpen);
  for (const one of open) if (one.state !== 'returning') await say(parts, of, one, 'abort');
  if (open.length > 0) return false;
  const targets = unsettledTargets(desk);
  const [first] = targets;
  if (first !== undefined) {
    await bringGood(parts, of, desk, first);
    return false;
  }
  const assigned = desk.assigned.map(
    ({ target, pack_id, version, mode }) => `${targetText(target)} ${pack_id} ${version} ${mode}`,
  );
  // Another Console may have said so that has not heard of the last act yet.
  const [text, nowMs] = [assigned.join(), parts.world.scheduler.now()];
  if (desk.standing?.text !== text) desk.standing = { text, sinceMs: nowMs };
  if (nowMs - desk.standing.sinceMs < STANDING_MS) return false;
  parts.world.observe({ kind: 'publisher.settled', assigned });
  desk.settled = desk.assigned;
  desk.settledAtMs = parts.world.scheduler.now();
  return true;
}

/** It is an admin, so that it may be the only one who can open what admins had closed; whether nothing is closed. */
async function openAccounts(parts: PersonParts, of: Of): Promise<boolean> {
  const answer = await asked(parts, of, { method: 'get', path: '/users?limit=100' });
  // Its role needs a second factor since: it logs in again and sets one up.
  if (answer?.code === 'second_factor_required') putAway(of.person, of.held);
  if (answer === null || answer.code !== null) return false;
  const all = answer.body['items'] as readonly Account[];
  const closed = all.filter(({ status }) => status === 'disabled');
  for (const { user_id, revision } of closed) {
    const body = { revision, status: 'active' };
    const path = `/users/${user_id}`;
    const opened = await asked(parts, of, { method: 'patch', path, body });
    if (opened?.code === 'fresh_login_required') putAway(of.person, of.held);
  }
  return closed.length === 0;
}

/** Those that have what is not good, and those where an aborted rollout left sensors with another version. */
function unsettledTargets(desk: Desk): readonly (KnownAssignment | KnownRollout)[] {
  const wrong = desk.assigned.filter(({ pack_id, version }) => {
    const own = desk.versions.find((one) => one.pack === pack_id && one.version === version);
    return own === undefined || !isGood(desk, own);
  });
  const left = desk.rollouts.filter(({ state }) => state === 'stopped');
  return [...wrong, ...left.filter((one) => !desk.mended.has(one.rollout_id))];
}

function isRollout(one: KnownAssignment | KnownRollout): one is KnownRollout {
  return 'rollout_id' in one;
}

/** A new version for one target. Where nobody can sign any more, what stands stays. */
async function bringGood(
  parts: PersonParts,
  of: Of,
  desk: Desk,
  at: KnownAssignment | KnownRollout,
): Promise<void> {
  const pack = desk.packs.find(({ pack_id }) => pack_id === at.pack_id);
  if (pack === undefined) return;
  const known = desk.versions.findLast((one) => one.pack === at.pack_id);
  if (known === undefined || !isGood(desk, known) || known.version <= at.version) {
    await publishIn(parts, of, desk, { pack, isGood: true });
    return;
  }
  const { version } = known;
  const wish = { pack: at.pack_id, version, mode: at.mode };
  const isDone = await assignTo(parts, of, at.target, wish);
  if (isDone && isRollout(at)) desk.mended.add(at.rollout_id);
}
