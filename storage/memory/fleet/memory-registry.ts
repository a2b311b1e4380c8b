// The reference sensor registry on a switch, in plain memory, audited into the shared log. Used by tests only.
import type { FactWriter, SensorRegistry } from '../../ports/fleet/sensor-registry.ts';
import { createMemoryAudit, type MemoryAudit } from '../audit/audit-log.ts';
import { createAwaySwitch } from '../plumbing/away-switch.ts';
import { portOf } from '../plumbing/unsafe-port-of.ts';
import { keepFacts, type RegistryPort, registryCalls } from './registry-calls.ts';
import { emptyRegistry, type RegistryState } from './registry-state.ts';

export type MemoryRegistry = {
  readonly sensors: SensorRegistry;
  readonly facts: FactWriter;
  /** What it holds, for the stores that tell of sensors as well. */
  readonly state: RegistryState;
  /** Away: every call throws StoreUnavailable, facts are refused and watchers are told. */
  setAway(away: boolean): void;
};

/** Makes an empty registry with the fact writer that belongs to it. */
export function createMemoryRegistry(
  audit: Pick<MemoryAudit, 'record'> = createMemoryAudit(),
  isLabelled?: RegistryState['isLabelled'],
): MemoryRegistry {
  const watches = new Set<Parameters<SensorRegistry['watchIdentities']>[0]>();
  const tellChanged = (sensorId: string) => {
    for (const watch of watches) queueMicrotask(() => watch.onChange(sensorId));
  };
  const state = emptyRegistry(audit.record, tellChanged, isLabelled);
  const { ask, isAway, setAway } = createAwaySwitch((away) => {
    for (const watch of watches) (away ? watch.onLost : watch.onRestored)();
  });
  const sensors: SensorRegistry = {
    ...portOf<RegistryPort>('sensors', registryCalls(state), ask),
    watchIdentities: (watch) =>
      ask('sensors.watchIdentities', () => {
        watches.add(watch);
        // Its watchers are told of everything at once, also that nothing is told any more.
        return { provenAgoMs: () => 0, stop: async () => void watches.delete(watch) };
      }),
  };
  return { sensors, facts: createFacts(state, isAway), state, setAway };
}

function createFacts(state: RegistryState, isAway: () => boolean): FactWriter {
  let isClosed = false;
  return {
    async write(report) {
      if (isAway() || isClosed) return false;
      keepFacts(state, report);
      return true;
    },
    queuedRows: () => 0,
    async close() {
      isClosed = true;
    },
  };
}
