// A V8 CPU profile as the functions that took the most time themselves.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../journeys/programs.ts';

type Profile = {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
};
export type SelfTime = { readonly place: string; readonly share: number };
export type ProfileSummary = {
  readonly functions: readonly SelfTime[];
  readonly files: readonly SelfTime[];
};

/**
 * The functions and the files with the most self time, as shares of the time the process was busy. The first
 * `skipSeconds`, the start of the process, are left out.
 */
export function summarizeProfile(
  folder: string,
  options: { readonly top: number; readonly skipSeconds: number },
): ProfileSummary {
  const [file] = readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'));
  if (file === undefined) throw new Error('the gateway wrote no profile');
  const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile;
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const functions = new Map<string, number>();
  const files = new Map<string, number>();
  let busy = 0;
  let elapsed = 0;
  for (const [at, id] of profile.samples.entries()) {
    const delta = profile.timeDeltas[at] ?? 0;
    elapsed += delta;
    if (elapsed < options.skipSeconds * 1_000_000) continue;
    const { functionName = '', url = '', lineNumber = 0 } = frames.get(id) ?? {};
    if (functionName === '(idle)' || functionName === '(root)') continue;
    const path = url.replace(`file://${ROOT}/`, '').replace(/^.*node_modules\//, '');
    busy += delta;
    add(files, path || functionName || '(native)', delta);
    add(functions, path === '' ? functionName : `${functionName} ${path}:${lineNumber + 1}`, delta);
  }
  return {
    functions: largest(functions, options.top, busy),
    files: largest(files, options.top, busy),
  };
}

function add(times: Map<string, number>, key: string, delta: number): void {
  times.set(key, (times.get(key) ?? 0) + delta);
}

function largest(times: Map<string, number>, top: number, busy: number): readonly SelfTime[] {
  return [...times]
    .sort((a, b) => b[1] - a[1])
    .slice(0, top)
    .map(([place, time]) => ({ place, share: time / busy }));
}
