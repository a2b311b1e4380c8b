// Mistakes about a change of the root. decision: D173
import { SENSOR_PATHS } from '../../../machines/wire/enrollment.ts';
import type { PlantedBug } from './planted-bug.ts';
import { CALM, SHORT_LIVES } from './settings.ts';
import { changePosts } from './tampered-transport.ts';

const CHANGED = {
  ...CALM,
  hours: 0.5,
  kinds: ['console.new_root'],
  faultsPerHour: 10,
  intervals: SHORT_LIVES,
} as const;

export const ROOT_BUGS: readonly PlantedBug[] = [
  {
    name: 'new-root-is-not-kept',
    mistake: 'A Sensor keeps the roots of its enrollment, whatever a renewal tells.',
    foundBy: 'root-change',
    options: CHANGED,
    pinnedSeed: '1',
    node: () =>
      changePosts((client) => (answer, path) => {
        if (!answer.ok || path !== SENSOR_PATHS.renew) return answer;
        const kept = { control_plane_ca_certificate_pem: client.identity().caPem };
        return { ...answer, json: { ...(answer.json as object), ...kept } };
      }),
  },
  {
    name: 'retired-root-is-taken',
    mistake: 'A Console takes every root that it ever had.',
    foundBy: 'root-change',
    options: CHANGED,
    pinnedSeed: '1',
    console() {
      const seen = new Set<string>();
      return {
        roots(now) {
          for (const one of now) seen.add(one);
          return [...new Set([...now, ...seen])];
        },
      };
    },
  },
];
