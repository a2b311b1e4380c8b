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

/** The places with the most self time, as shares of the time the process was busy. */
export function summarizeProfile(folder: string, top: number): readonly SelfTime[] {
  const [file] = readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'));
  if (file === undefined) throw new Error('the gateway wrote no profile');
  const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile;
  const places = new Map(
    profile.nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
      const path = url.replace(`file://${ROOT}/`, '').replace(/^node_modules\//, '');
      return [
        id,
        url === '' ? functionName : `${functionName || '(anonymous)'} ${path}:${lineNumber + 1}`,
      ];
    }),
  );
  const times = new Map<string, number>();
  let busy = 0;
  for (const [at, id] of profile.samples.entries()) {
    const place = places.get(id) ?? '';
    if (place === '(idle)' || place === '(root)') continue;
    const delta = profile.timeDeltas[at] ?? 0;
    busy += delta;
    times.set(place, (times.get(place) ?? 0) + delta);
  }
  return [...times]
    .sort((a, b) => b[1] - a[1])
    .slice(0, top)
    .map(([place, time]) => ({ place, share: time / busy }));
}
