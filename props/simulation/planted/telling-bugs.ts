// Mistakes with what nodes tell beside events: habits of programs, flows, sockets.
import type { BaselineStore } from '../../../storage/ports/telemetry/baseline-store.ts';
import type { FlowRow } from '../../../storage/ports/telemetry/telemetry-store.ts';
import type { ConsoleTampering } from '../world/console-host.ts';
import type { PlantedBug } from './planted-bug.ts';
import { CALM, LONG_LIVES, QUICK_HABITS } from './settings.ts';

/** More programs than are known at once. */
const HABITUAL = {
  ...{ ...CALM, hours: 0.15, quietMs: 1_000, programs: 40, binariesMax: 8 },
  intervals: QUICK_HABITS,
} as const;
const MANY = 512;

function changeHabits(
  change: (input: Parameters<BaselineStore['put']>[0]) => Parameters<BaselineStore['put']>[0],
): ConsoleTampering {
  return {
    analytics: (ports) => ({
      ...ports,
      baselines: { ...ports.baselines, put: (input) => ports.baselines.put(change(input)) },
    }),
  };
}

function changeFlows(change: (rows: readonly FlowRow[]) => readonly FlowRow[]): ConsoleTampering {
  return {
    analytics: (ports) => ({
      ...ports,
      telemetry: {
        ...ports.telemetry,
        insert: (rows) => ports.telemetry.insert({ ...rows, flows: change(rows.flows) }),
      },
    }),
  };
}

export const TELLING_BUGS: readonly PlantedBug[] = [
  {
    name: 'forgotten-habits-stay',
    mistake: 'Programs that a node has forgotten stay among the habits that are stored.',
    foundBy: 'habits',
    options: HABITUAL,
    pinnedSeed: '1',
    console: () => changeHabits((input) => ({ ...input, forgotten: [] })),
  },
  {
    name: 'habit-is-lost',
    mistake: 'Of habits that are written together the last is left out.',
    foundBy: 'habits',
    options: HABITUAL,
    pinnedSeed: '1',
    console: () => changeHabits((input) => ({ ...input, baselines: input.baselines.slice(0, -1) })),
  },
  {
    name: 'delta-on-a-poor-base',
    mistake: 'A change of habits is put on what is stored of them, but for one program.',
    foundBy: 'habits',
    options: { ...HABITUAL, binariesMax: MANY },
    pinnedSeed: '1',
    console: () => ({
      relational: (ports) => ({
        ...ports,
        inventory: {
          ...ports.inventory,
          async get(sensorId, section) {
            const stored = await ports.inventory.get(sensorId, section);
            if (stored === null || section !== 'baselines') return stored;
            return { ...stored, items: stored.items.slice(1) };
          },
        },
      }),
    }),
  },
  {
    name: 'judged-too-soon',
    mistake: 'A node judges programs by the habits of a second.',
    foundBy: 'habits',
    options: {
      ...{ ...HABITUAL, kinds: ['engine.flood'], faultsPerHour: 40 },
      intervals: LONG_LIVES,
    },
    pinnedSeed: '1',
    node: () => ({ intervals: (own) => ({ ...own, BASELINE_WARM_UP_MS: 1_000 }) }),
  },
  {
    name: 'habits-without-bound',
    mistake: 'A node knows the habits of every program it ever saw.',
    foundBy: 'habits',
    options: HABITUAL,
    pinnedSeed: '1',
    node: () => ({ binariesMax: () => MANY }),
  },
  {
    name: 'flow-counts-again',
    mistake: 'A flow that is told again is stored as another one.',
    foundBy: 'flows',
    options: { ...HABITUAL, hours: 0.08, kinds: ['network.reset', 'network.cut'] },
    pinnedSeed: '1',
    console: () =>
      changeFlows((rows) =>
        rows.flatMap((row) => [row, { ...row, firstSeenAtMs: row.reportedAtMs }]),
      ),
  },
  {
    name: 'flow-is-lost',
    mistake: 'Of the flows of one write the last is left out.',
    foundBy: 'flows',
    options: HABITUAL,
    pinnedSeed: '1',
    console: () => changeFlows((rows) => rows.slice(0, -1)),
  },
  {
    name: 'sockets-are-not-written',
    mistake: 'Of the writes of connections each Console makes the first, and confirms all.',
    foundBy: 'node-sockets',
    options: HABITUAL,
    pinnedSeed: '1',
    console() {
      let writes = 0;
      return {
        relational: (ports) => ({
          ...ports,
          inventory: {
            ...ports.inventory,
            async put(input) {
              if (input.section === 'connections') writes += 1;
              if (input.section !== 'connections' || writes === 1) {
                await ports.inventory.put(input);
              }
            },
          },
        }),
      };
    },
  },
  {
    name: 'images-that-went-stay',
    mistake: 'An image that a node does not have any more stays among those that are stored.',
    foundBy: 'node-containers',
    options: HABITUAL,
    pinnedSeed: '1',
    console: () => ({
      relational: (ports) => ({
        ...ports,
        inventory: {
          ...ports.inventory,
          async put(input) {
            const { sensorId, section, items } = input;
            const before = await ports.inventory.get(sensorId, section);
            const isKept = section === 'container_images' && before !== null;
            await ports.inventory.put(
              isKept ? { ...input, items: [...before.items, ...items] } : input,
            );
          },
        },
      }),
    }),
  },
];
