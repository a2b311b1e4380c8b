// The builds of our own engines over time: which one runs, whether the program carries another by now, and which one was
// refused. The newer one is laid out beside and moved into place when it has taken over. decision: D50
import { join } from 'node:path';
import type { EngineBuild } from '../../machines/sensor/engine.rules.ts';
import { carriedEngine, ENTRY, laidOutOf, marksOf, type OwnKind } from './carried.ts';
import { whyNoEbpf } from './ebpf.ts';
import type { EngineLaunch, EngineRun } from './engine-run.ts';
import type { Kept, OwnEngine } from './lay-out.ts';
import { clearBeside, settleEngine, unpackEngine } from './unpack.ts';

export type EngineLook =
  /** What would be brought is what runs. */
  | { readonly state: 'current' }
  /** It cannot be told: files are being replaced, or nothing runs. */
  | { readonly state: 'unready' }
  | { readonly state: 'newer'; readonly build: EngineBuild; readonly running: EngineBuild };
export type NextEngine = {
  /** Whether it runs while the one before does; otherwise that one has to be gone before it is launched. */
  readonly isBeside: boolean;
  launch(options: EngineLaunch): EngineRun;
};
export type Upgrades = {
  readonly kept: ReadonlyMap<OwnKind, Kept>;
  /** This is what was chosen; null = no engine of our own. */
  follow(engine: OwnEngine | null): void;
  look(): Promise<EngineLook>;
  prepare(build: EngineBuild): Promise<NextEngine>;
  accept(): Promise<void>;
  refuse(build: EngineBuild): void;
};
type Launch = (kind: OwnKind, directory: string) => NextEngine['launch'];

/** Follows the engines one launcher lays out and starts. */
export function createUpgrades(stateDir: string, carried: URL, launchIn: Launch): Upgrades {
  let running: OwnEngine | null = null;
  let next: OwnEngine | null = null;
  let seen: { readonly marks: string; readonly look: EngineLook } | null = null;
  let marksBefore: string | null = null;
  const kept = new Map<OwnKind, Kept>();

  async function judge(own: OwnEngine): Promise<EngineLook> {
    const found = await carriedEngine(own.kind, carried);
    if (!found.ok) return { state: 'unready' };
    const { build } = found;
    if (build.sum === own.build.sum) return { state: 'current' };
    return { state: 'newer', build, running: own.build };
  }

  return {
    kept,
    follow(engine) {
      running = engine;
      seen = null;
    },
    async look() {
      const own = running;
      if (own === null) return { state: 'unready' };
      try {
        // Read first: whatever changes while the files are judged is seen by the next look.
        const marks = await marksOf(own.kind, carried);
        if (seen?.marks === marks) return seen.look;
        // No sum is carried for its files: they have to stand still from one look to the next.
        const isStill = marksBefore === null || marksBefore === marks;
        marksBefore = marks;
        if (own.kind === 'procfs' && !isStill) return { state: 'unready' };
        const look = await judge(own);
        seen = running === own ? { marks, look } : null;
        return look;
      } catch {
        return { state: 'unready' };
      }
    },
    async prepare(build) {
      if (running === null) throw new Error('no engine runs that it could follow');
      const { kind } = running;
      await clearBeside(stateDir);
      const found = await carriedEngine(kind, carried);
      if (!found.ok) throw new Error(found.reason);
      if (found.build.sum !== build.sum) throw new Error('it was replaced by yet another build');
      const placed = await unpackEngine({ stateDir, files: found.files, place: 'beside' });
      if (!placed.ok) throw new Error(placed.reason);
      const { directory } = placed;
      const reason = kind === 'ebpf' ? await whyNoEbpf(join(directory, ENTRY[kind])) : undefined;
      if (reason !== undefined) throw new Error(reason);
      next = { kind, build, files: laidOutOf(found.files) };
      return { isBeside: true, launch: launchIn(kind, directory) };
    },
    async accept() {
      const own = next;
      if (own === null) return;
      [running, next, seen] = [own, null, null];
      kept.delete(own.kind);
      await settleEngine(
        stateDir,
        own.files.map(({ name }) => name),
      );
    },
    refuse(build) {
      if (running === null) return;
      next = null;
      kept.set(running.kind, { refused: build, engine: running });
    },
  };
}
