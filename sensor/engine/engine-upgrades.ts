// The builds of our own engines over time: which one runs, whether the program carries another by now, and which one was
// refused. The newer one is laid out beside and moved into place when it has taken over. decision: D50
import { join } from 'node:path';
import type { EngineBuild, EngineRefusal } from '../../machines/sensor/engine.rules.ts';
import {
  beginTrial,
  type EngineTrial,
  type KeptEngine,
} from '../../machines/sensor/engine-trials.rules.ts';
import { carriedEngine, ENTRY, laidOutOf, marksOf, type OwnKind } from './carried.ts';
import { whyNoEbpf } from './ebpf.ts';
import type { EngineLaunch, EngineRun } from './engine-run.ts';
import { clearBeside, settleEngine, unpackEngine } from './unpack.ts';

export type EngineLook =
  /** What would be brought is what runs. */
  | { readonly state: 'current' }
  /** It cannot be told: files are being replaced, or nothing runs. */
  | { readonly state: 'unready' }
  | { readonly state: 'newer'; readonly build: EngineBuild; readonly running: EngineBuild };
/** The same of one kind of engine; the build that is another one. */
export type KindLook = 'current' | 'unready' | EngineBuild;
export type NextEngine = {
  /** Whether it runs while the one before does; otherwise that one has to be gone before it is launched. */
  readonly isBeside: boolean;
  launch(options: EngineLaunch): EngineRun;
};
/** What is known of builds that were tried; of each kind the last one. */
export type TrialKeeper = {
  /** As an earlier life of the Sensor knew it; asked before anything is put in place. */
  recall(trials: readonly EngineTrial[]): void;
  trials(): readonly EngineTrial[];
};
export type Upgrades = TrialKeeper & {
  readonly known: ReadonlyMap<OwnKind, EngineTrial>;
  /** This was chosen, and this lies in place; null = no engine of our own runs. */
  follow(kind: OwnKind | null, inPlace: ReadonlyMap<OwnKind, KeptEngine>): void;
  /** No engine of our own runs any more. */
  leave(): void;
  /** The build that runs. */
  running(): EngineBuild | null;
  /** Whether what is carried of this kind is another build than the one in place. Never rejects. */
  look(kind: OwnKind): Promise<KindLook>;
  prepare(build: EngineBuild): Promise<NextEngine>;
  accept(): Promise<void>;
  /** What the disk or a replacement of files prevented is not the build's fault, and tried again by another Sensor. */
  refuse(refusal: EngineRefusal): void;
};
type Launch = (kind: OwnKind, directory: string, isBeside: boolean) => NextEngine['launch'];

/** Follows the engines one launcher lays out and starts. */
export function createUpgrades(stateDir: string, carried: URL, launchIn: Launch): Upgrades {
  let own: OwnKind | null = null;
  let next: { readonly kind: OwnKind; readonly engine: KeptEngine } | null = null;
  /** The build that was started last to follow another, and the one the kernel refused last. */
  let launched: string | null = null;
  let unfit: string | null = null;
  const inPlace = new Map<OwnKind, KeptEngine>();
  const known = new Map<OwnKind, EngineTrial>();
  const seen = new Map<OwnKind, { readonly marks: string; readonly build: EngineBuild }>();
  const marksBefore = new Map<OwnKind, string>();

  return {
    known,
    recall(trials) {
      for (const trial of trials) {
        const kind = ownKindOf(trial.build.kind);
        if (kind !== null) known.set(kind, trial);
      }
    },
    trials: () => [...known.values()],
    follow(kind, engines) {
      own = kind;
      next = null;
      inPlace.clear();
      for (const [one, engine] of engines) {
        inPlace.set(one, engine);
        // Another build lies there than the one that was tried, and nothing is kept for it any more.
        const kept = known.get(one)?.kept;
        if (engine !== kept) known.delete(one);
      }
    },
    leave() {
      own = null;
    },
    running: () => (own === null ? null : (inPlace.get(own)?.build ?? null)),
    async look(kind) {
      try {
        // Read first: whatever changes while the files are judged is seen by the next look.
        const marks = await marksOf(kind, carried);
        const before = marksBefore.get(kind) ?? marks;
        marksBefore.set(kind, marks);
        // No sum is carried for its files: they have to stand still from one look to the next.
        if (kind === 'procfs' && before !== marks) return 'unready';
        let build = seen.get(kind)?.marks === marks ? seen.get(kind)?.build : undefined;
        if (build === undefined) {
          const found = await carriedEngine(kind, carried);
          if (!found.ok) return 'unready';
          build = found.build;
          seen.set(kind, { marks, build });
        }
        // It was replaced: whatever is carried now was not tried.
        if (known.get(kind)?.build.sum !== build.sum) known.delete(kind);
        return build.sum === inPlace.get(kind)?.build.sum ? 'current' : build;
      } catch {
        return 'unready';
      }
    },
    async prepare(build) {
      const kind = ownKindOf(build.kind);
      if (kind === null || own === null) throw new Error('no engine runs that it could follow');
      await clearBeside(stateDir);
      const found = await carriedEngine(kind, carried);
      if (!found.ok) throw new Error(found.reason);
      if (found.build.sum !== build.sum) throw new Error('it was replaced by yet another build');
      const placed = await unpackEngine({ stateDir, files: found.files, place: 'beside' });
      if (!placed.ok) throw new Error(placed.reason);
      const { directory } = placed;
      const reason = kind === 'ebpf' ? await whyNoEbpf(join(directory, ENTRY[kind])) : undefined;
      if (reason !== undefined) {
        unfit = build.sum;
        throw new Error(reason);
      }
      next = { kind, engine: { build, files: laidOutOf(found.files) } };
      known.set(kind, beginTrial(known.get(kind), build, inPlace.get(kind) ?? null));
      // What two kinds say of how far they have told does not fit together.
      const isBeside = kind === own;
      const launch = launchIn(kind, directory, isBeside);
      return {
        isBeside,
        launch(asked) {
          launched = build.sum;
          return launch(asked);
        },
      };
    },
    async accept() {
      if (next === null) return;
      const { kind, engine } = next;
      [own, next] = [kind, null];
      inPlace.set(kind, engine);
      known.delete(kind);
      await settleEngine(
        stateDir,
        engine.files.map(({ name }) => name),
      );
    },
    refuse({ build, reason }) {
      const kind = ownKindOf(build.kind);
      const isBegun = next?.engine.build.sum === build.sum;
      next = null;
      if (kind === null) return;
      const isLaunched = launched === build.sum;
      // Where it was not even started, the machine it runs on is asked again when the Sensor starts.
      if (kind !== own && !isLaunched) {
        known.delete(kind);
        return;
      }
      const before = known.get(kind);
      const trials = before?.build.sum === build.sum ? before.trials : 0;
      const kept = inPlace.get(kind) ?? null;
      if (isLaunched || unfit === build.sum) known.set(kind, { build, reason, trials, kept });
      else known.set(kind, { build, reason: null, trials: trials - (isBegun ? 1 : 0), kept });
    },
  };
}

function ownKindOf(kind: string): OwnKind | null {
  return kind === 'ebpf' || kind === 'procfs' ? kind : null;
}
