// While one engine follows another, somebody watches: none is asked to end for a newer build before that one said that it
// is attached, so that a build which fails before leaves the node its engine and no event goes unseen. A build that failed
// is not started again: not by the same Sensor, so that what comes after a failure is what ran before, and by a later one
// only beside what runs, and no more often than a trial is repeated whose end no Sensor lived to note. Excuse: when
// everything is ended at once (the Sensor stops, or what runs is lost), both are asked at one moment; engines end with
// a Sensor that is killed, without a word; what is gone from the disk, or cannot be read, is not known. invariant: I10
import { ENGINE_TRIALS_MAX } from '../../../machines/sensor/engine-limits.ts';
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
  /** How often each build was tried. */
  readonly tried: Map<string, number>;
};

export const engineWatch: CheckerKind = {
  name: 'engine-watch',
  promise:
    'A newer engine leaves no moment without one, and one that failed is not what a Sensor starts.',
  make(_fleet, report) {
    const nodes = new Map<string, Own>();
    const ownOf = (node: string): Own =>
      ensure(nodes, node, () => ({
        ...{ sensor: 0, asked: [] },
        ...{ next: new Map(), failed: new Map(), tried: new Map() },
      }));

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
      judgeStart(own, { node, process, build, sensor, step });
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

    function judgeStart(own: Own, { node, build, sensor, step }: Omit<Seen, 'kind'>): void {
      if (step !== 'started' && step !== 'beside') return;
      const failedIn = own.failed.get(build);
      if (failedIn === sensor || (failedIn !== undefined && step === 'started')) {
        report(`${node} started build ${build} again, which had failed`);
      }
      if (step === 'started') return;
      const tried = (own.tried.get(build) ?? 0) + 1;
      own.tried.set(build, tried);
      if (tried > ENGINE_TRIALS_MAX) report(`${node} tried build ${build} ${tried} times`);
    }

    return {
      observe(seen, atMs) {
        judge(atMs);
        if (seen.kind === 'engine.step') follow(seen, atMs);
        if (seen.kind !== 'engine.forgotten' && seen.kind !== 'node.wiped') return;
        ownOf(seen.node).failed.clear();
        ownOf(seen.node).tried.clear();
      },
      probe: judge,
      finish: judge,
    };
  },
};
