// A rollout never passes a failing gate. What no engine carries out begins with sensors that are named, and no other is ever
// offered it: none of those can have it in force. And where a refusal ends a rollout, none goes on while a sensor that it
// reached has said no and the database knows it. Truth is what the publisher asked for, what Consoles answered, what nodes
// said, and which steps were committed. decision: D90, D91, D170
import type { PolicyObservation, PublishedPack } from '../world/policy-observation.ts';
import { isBadPack } from './assigned-packs.ts';
import type { CheckerKind } from './checker.ts';
import { ensure } from './columns.ts';

type Asked = Extract<PolicyObservation, { readonly kind: 'rollout.asked' }>;
type Moved = Extract<PolicyObservation, { readonly kind: 'rollout.moved' }>;
/** A look reads sensors before its step is committed, and waits for a database in between. */
const LOOK_MAX_MS = 60_000;

export const rolloutGates: CheckerKind = {
  name: 'rollout-gates',
  promise: 'No sensor outside the canary is offered a version that the canary refused.',
  make(fleet, report) {
    const { sensorOf, state } = fleet.stores.relational;
    const { sensors } = state;
    const versions = new Map<string, PublishedPack>();
    const asked = new Map<string, Asked[]>();
    /** Sensors that were offered an assignment. */
    const offered = new Map<string, Set<string>>();
    /** Since when a sensor has said of an assignment that it does not take it. */
    const refusals = new Map<string, Map<string, number>>();
    const stages = new Map<string, number>();
    /** Whatever anything was asked for. */
    const targets = new Set<string>();
    /** Versions that were assigned, or came beyond the first stage. */
    const passed = new Set<string>();
    const idOf = ({ pack, version }: { readonly pack: string; readonly version: number }) =>
      `${pack}/${version}`;

    function judgeOffer(sensor: string, id: string): void {
      const published = versions.get(id);
      const all = asked.get(id) ?? [];
      const isNamed = all.some(({ canary }) => canary?.includes(sensor) === true);
      if (published === undefined || isNamed) return;
      if (isBadPack(published)) {
        report(
          `${sensor} is offered version ${id}, which no engine carries out, and was not named`,
        );
      } else if (!passed.has(id) && all.every(({ canary }) => canary !== null)) {
        report(`${sensor} is offered version ${id} before those that were named had it`);
      }
    }

    function judgeMove(move: Moved, atMs: number): void {
      const before = stages.get(move.rollout) ?? 0;
      stages.set(move.rollout, move.stage);
      if (move.stage <= before && move.to !== 'done') return;
      const id = idOf(move);
      passed.add(id);
      if (!(asked.get(id) ?? []).every(({ isGated }) => isGated)) return;
      for (const sensor of offered.get(move.assignment) ?? []) {
        const sinceMs = refusals.get(sensor)?.get(move.assignment);
        if (sinceMs === undefined || atMs - sinceMs < LOOK_MAX_MS || !isKnown(sensor, move))
          continue;
        report(`the rollout of ${id} came to ${move.to} although ${sensor} had refused it`);
      }
    }

    /** Whether nothing that was ever asked for can have given the sensor something that goes before. */
    function isOf(sensor: string, target: string): boolean {
      if (target === `sensor:${sensor}`) return true;
      const isOther = (one: string) => one === `sensor:${sensor}` || one.startsWith('group:');
      return target === 'fleet:fleet' && ![...targets].some(isOther);
    }

    /** Whether the database has that refusal, of a sensor that counts. */
    function isKnown(sensor: string, { assignment, target }: Moved): boolean {
      if (!isOf(sensor, target)) return false;
      const row = sensors.get(sensor);
      const said = row?.facts?.policy as
        | { readonly assignment_id?: string; readonly state?: string }
        | undefined;
      const isOfIt = said?.assignment_id === assignment && isRefusal(said.state ?? '');
      return row?.revokedAtMs === null && isOfIt;
    }

    return {
      observe(seen, atMs) {
        switch (seen.kind) {
          case 'pack.published':
            versions.set(idOf(seen.published), seen.published);
            break;
          case 'pack.asked':
            passed.add(idOf(seen.wish));
            targets.add(seen.target);
            break;
          case 'rollout.asked':
            ensure(asked, idOf(seen.wish), (): Asked[] => []).push(seen);
            targets.add(seen.target);
            break;
          case 'pack.offered': {
            const sensor = sensorOf(seen.fingerprint ?? '');
            if (sensor === undefined) break;
            ensure(offered, seen.assignment, () => new Set<string>()).add(sensor);
            judgeOffer(sensor, idOf(seen.wish));
            break;
          }
          case 'pack.told': {
            const sensor = sensorOf(seen.fingerprint ?? '') ?? '';
            const own = ensure(refusals, sensor, () => new Map<string, number>());
            if (!isRefusal(seen.state)) own.delete(seen.assignment);
            else if (!own.has(seen.assignment)) own.set(seen.assignment, atMs);
            break;
          }
          case 'rollout.moved':
            judgeMove(seen, atMs);
            break;
        }
      },
    };
  },
};

function isRefusal(state: string): boolean {
  return state === 'rejected' || state === 'failed';
}
