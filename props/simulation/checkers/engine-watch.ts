// While one engine follows another, somebody watches: none is asked to end for a newer build before that one said that it
// is attached, so that a build which fails before leaves the node its engine and no event goes unseen; and a build that
// failed is not started again by the same Sensor, so that what comes after a failure is what ran before. Excuse: when
// everything is ended at once (the Sensor stops, or what runs is lost), both are asked at one moment; engines end with
// a Sensor that is killed, without a word. invariant: I10
import type { Observation } from '../world/observation.ts';
import type { CheckerKind } from './checker.ts';
import { ensure } from './columns.ts';

type Seen = Extract<Observation, { kind: 'engine.step' }>;
type Own = {
  /** The life of the Sensor that was seen last. */
  sensor: number;
  /** Processes that were started beside another and have not taken over. */
  readonly next: Map<number, { isAttached: boolean }>;
  /** Asked to end while these were not attached, at that moment. */
  asked: { readonly process: number; readonly next: number; readonly atMs: number }[];
  /** Builds that ended by themselves, with the life of the Sensor that saw it. */
  readonly failed: Map<string, number>;
};

export const engineWatch: CheckerKind = {
  name: 'engine-watch',
  promise: 'A newer engine leaves no moment without one, and one that failed is not tried again.',
  make(_fleet, report) {
    const nodes = new Map<string, Own>();
    const ownOf = (node: string): Own =>
      ensure(nodes, node, () => ({ sensor: 0, next: new Map(), asked: [], failed: new Map() }));

    function judge(atMs: number): void {
      for (const [node, own] of nodes) {
        for (const one of own.asked) {
          if (atMs <= one.atMs || own.next.get(one.next)?.isAttached !== false) continue;
          report(
            `${node} ended engine ${one.process} for engine ${one.next}, which was not attached`,
          );
        }
        own.asked = own.asked.filter((one) => atMs <= one.atMs);
      }
    }

    function follow({ node, process, build, sensor, step }: Seen, atMs: number): void {
      const own = ownOf(node);
      if (own.sensor !== sensor) own.next.clear();
      own.sensor = sensor;
      const next = own.next.get(process);
      if ((step === 'started' || step === 'beside') && own.failed.get(build) === sensor) {
        report(`${node} started build ${build} again, which had failed`);
      }
      if (step === 'beside') own.next.set(process, { isAttached: false });
      else if (step === 'attached' && next !== undefined) next.isAttached = true;
      else if (step === 'failed') own.failed.set(build, sensor);
      if (step === 'took over' || step === 'ended') own.next.delete(process);
      if (step !== 'asked') return;
      if (next !== undefined) {
        own.next.delete(process);
        return;
      }
      for (const [other, { isAttached }] of own.next) {
        if (!isAttached) own.asked.push({ process, next: other, atMs });
      }
    }

    return {
      observe(seen, atMs) {
        judge(atMs);
        if (seen.kind === 'engine.step') follow(seen, atMs);
      },
      probe: judge,
      finish: judge,
    };
  },
};
