// Mistakes with a newer build of the engine.
import type { EngineLauncher } from '../../../sensor/engine/engine-launcher.ts';
import type { NodeTampering } from '../world/node-host.ts';
import type { PlantedBug } from './planted-bug.ts';
import { CALM } from './settings.ts';

function changeEngine(change: (engine: EngineLauncher) => Partial<EngineLauncher>): NodeTampering {
  return { ports: (ports) => ({ ...ports, engine: { ...ports.engine, ...change(ports.engine) } }) };
}

export const ENGINE_BUGS: readonly PlantedBug[] = [
  {
    name: 'attached-when-started',
    mistake: 'A newer engine is believed to be attached as soon as its process runs.',
    foundBy: 'engine-watch',
    options: { ...CALM, kinds: ['engine.upgrade'] },
    pinnedSeed: '1',
    node: () =>
      changeEngine((engine) => ({
        async prepareNext(build) {
          const next = await engine.prepareNext(build);
          return {
            ...next,
            launch(asked) {
              const run = next.launch(asked);
              queueMicrotask(() => asked.onLine('{"attached":1}'));
              return run;
            },
          };
        },
      })),
  },
  {
    name: 'refused-build-comes-back',
    mistake: 'A build of the engine that failed is laid out again when the engine is started next.',
    foundBy: 'engine-watch',
    options: { ...CALM, hours: 0.3, kinds: ['engine.bad_upgrade', 'engine.crash'] },
    pinnedSeed: '2',
    node: () => changeEngine((engine) => ({ refuseNext: () => engine.recall([]) })),
  },
  {
    name: 'refusal-forgotten-at-restart',
    mistake: 'A Sensor that starts again does not ask what was refused before, and starts it.',
    foundBy: 'engine-watch',
    options: { ...CALM, hours: 0.3, kinds: ['engine.bad_upgrade', 'node.kill'] },
    pinnedSeed: '4',
    node: () => changeEngine(() => ({ recall: () => undefined })),
  },
];
