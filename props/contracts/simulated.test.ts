// The simulated stores keep the promises of the real ones when nothing is broken, in virtual time.
import { afterAll, beforeAll, describe } from 'vitest';
import { createHostClock, timeOf } from '../simulation/world/clocks.ts';
import { beginLife } from '../simulation/world/life.ts';
import { pumpTime } from '../simulation/world/pump.ts';
import { createSimulatedStores } from '../simulation/world/stores.ts';
import { EVERYBODY, type WayFaults } from '../simulation/world/stores-faults.ts';
import { createWorld } from '../simulation/world/world.ts';
import { baselineStoreContract } from './baseline-store.contract.ts';
import { eventSinkContract } from './event-sink.contract.ts';
import { eventStoreContract } from './event-store.contract.ts';
import { relationalContracts } from './relational.contract.ts';
import type { RelayFault } from './relay.ts';
import { telemetryStoreContract } from './telemetry-store.contract.ts';

const LATENCY = { least: 1, most: 4 } as const;

const world = createWorld('contracts');
const stores = createSimulatedStores(world, { keyOfEvent: (event) => event.event_id });
const life = beginLife(world.scheduler, { host: 'console-1', incarnation: 1 });
const clock = createHostClock(world.scheduler);
let stopPump = async (): Promise<void> => undefined;

beforeAll(() => {
  // A question that takes no time would never let the time go on for whoever asks in a loop.
  stores.analytics.faults.latencyMs = LATENCY;
  stopPump = pumpTime(world.scheduler);
});

afterAll(async () => {
  await stopPump();
});

function switchOf(faults: WayFaults): (away: boolean) => void {
  return (away) => void (away ? faults.away.add(EVERYBODY) : faults.away.delete(EVERYBODY));
}

describe('relational ports of the simulated database', () => {
  const ports = stores.relationalFor(life, clock);
  const setAway = switchOf(stores.relational.faults);
  relationalContracts({ port: () => ports, setAway });
});

describe('simulated event store', () => {
  const ports = stores.analyticsFor(life, clock);
  const setAway = switchOf(stores.analytics.faults);
  eventStoreContract({ port: () => ports, setAway });
  telemetryStoreContract({ port: () => ports.telemetry, setAway });
  baselineStoreContract({ port: () => ports, setAway });
});

describe('sink of the simulated event store', () => {
  const { faults, portsFor } = stores.analytics;
  function setFault(fault: RelayFault): void {
    faults.away.clear();
    faults.stall.clear();
    faults.failAfter = fault === 'answer_lost' || fault === 'one_answer_lost' ? 1 : 0;
    if (fault === 'away') faults.away.add(EVERYBODY);
    if (fault === 'stalled') faults.stall.add(EVERYBODY);
  }
  let opened = 0;
  eventSinkContract(async (options) => {
    opened += 1;
    const own = beginLife(world.scheduler, { host: `console-sink-${opened}`, incarnation: 1 });
    return { ...portsFor(own, timeOf(own, clock), options), setFault };
  });
});
