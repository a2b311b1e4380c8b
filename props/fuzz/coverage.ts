// Which parts of a target's modules an input reached, asked of V8 through the inspector of this thread. Blocks are
// painted as offsets of the source text, because V8 names a block only where its count differs from its surroundings.
import { type Profiler, Session } from 'node:inspector';

/** Offsets reached since the last question, by module. */
export type Reached = ReadonlyMap<string, Uint8Array>;

export type Coverage = {
  /** What was reached since the last call. */
  take(modules: readonly string[]): Reached;
  /** How many stretches of source were reached that `absorb` never saw. */
  news(reached: Reached): number;
  absorb(reached: Reached): void;
};

/** Begins to count. Call it before the modules are loaded: code that is already compiled has no counters. */
export function startCoverage(): Coverage {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const known = new Map<string, Uint8Array>();

  function take(modules: readonly string[]): Reached {
    let scripts: Profiler.ScriptCoverage[] = [];
    // The session lives in this thread, so the answer is there when `post` returns.
    session.post('Profiler.takePreciseCoverage', (error, answer) => {
      if (error !== null) throw error;
      scripts = answer.result;
    });
    const reached = new Map<string, Uint8Array>();
    for (const { url, functions } of scripts) {
      const module = modules.find((one) => url.endsWith(`/${one}`));
      if (module !== undefined) reached.set(module, paint(functions));
    }
    return reached;
  }

  function news(reached: Reached): number {
    let stretches = 0;
    for (const [module, offsets] of reached) {
      const before = known.get(module);
      let isInside = false;
      for (let at = 0; at < offsets.length; at += 1) {
        const isNew = offsets[at] === 1 && before?.[at] !== 1;
        if (isNew && !isInside) stretches += 1;
        isInside = isNew;
      }
    }
    return stretches;
  }

  function absorb(reached: Reached): void {
    for (const [module, offsets] of reached) {
      const before = known.get(module) ?? new Uint8Array(0);
      const merged = new Uint8Array(Math.max(before.length, offsets.length));
      merged.set(before);
      for (let at = 0; at < offsets.length; at += 1) if (offsets[at] === 1) merged[at] = 1;
      known.set(module, merged);
    }
  }

  return { take, news, absorb };
}

// Functions and ranges come outermost first, so what is painted later is more exact. The module's own top level runs
// only once and is left out.
function paint(functions: readonly Profiler.FunctionCoverage[]): Uint8Array {
  const ranges = functions
    .filter(({ functionName, ranges: [whole] }) => functionName !== '' || whole?.startOffset !== 0)
    .flatMap(({ ranges: some }) => some);
  const offsets = new Uint8Array(Math.max(0, ...ranges.map((range) => range.endOffset)));
  for (const { startOffset, endOffset, count } of ranges) {
    offsets.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  }
  return offsets;
}
