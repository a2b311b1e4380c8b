// Mistakes about nodes that are cut off: what a Sensor forgets or undoes as it starts, and what a Console writes of an order.
import type { PlantedBug } from './planted-bug.ts';
import { CALM } from './settings.ts';

const RECORD = 'containment.json';
const ORDERED: PlantedBug['options'] = {
  ...{ ...CALM, wardens: 1, hours: 0.5, faultsPerHour: 60 },
  kinds: ['node.kill', 'node.power_loss'],
};

export const CONTAINMENT_BUGS: readonly PlantedBug[] = [
  {
    name: 'containment-forgotten',
    mistake: 'A Sensor that starts does not read which order it was given.',
    foundBy: 'containment',
    options: ORDERED,
    pinnedSeed: '1',
    node: () => ({
      ports: (ports) => ({
        ...ports,
        files: {
          ...ports.files,
          // As of a file that is not there.
          stat: async (path) => (path.endsWith(RECORD) ? null : ports.files.stat(path)),
          async open(path, how, mode) {
            if (path.endsWith(RECORD) && how === 'read') {
              throw Object.assign(new Error('it is not there'), { code: 'ENOENT' });
            }
            return ports.files.open(path, how, mode);
          },
          async readFile(path) {
            if (!path.endsWith(RECORD)) return ports.files.readFile(path);
            throw Object.assign(new Error('it is not there'), { code: 'ENOENT' });
          },
        },
      }),
    }),
  },
  {
    name: 'containment-lifted-at-start',
    mistake: 'A Sensor that starts removes the rules of the one before it, to begin clean.',
    foundBy: 'containment',
    options: ORDERED,
    pinnedSeed: '1',
    node: () => ({
      ports(ports) {
        const cleaned = ports.packetFilter.remove();
        return {
          ...ports,
          packetFilter: {
            ...ports.packetFilter,
            apply: (ruleset) => cleaned.then(() => ports.packetFilter.apply(ruleset)),
          },
        };
      },
    }),
  },
  {
    name: 'release-written-as-containment',
    mistake: 'A Console writes a release as one more order to contain.',
    foundBy: 'containment',
    options: { ...ORDERED, kinds: [] },
    pinnedSeed: '1',
    console: () => ({
      relational: (ports) => ({
        ...ports,
        containment: {
          ...ports.containment,
          place: (input) => ports.containment.place({ ...input, wanted: 'contained' }),
        },
      }),
    }),
  },
];
