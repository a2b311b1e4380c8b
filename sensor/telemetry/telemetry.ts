// What the Sensor measures of its node for heartbeats and inventories.
import type { HeartbeatRequest } from '../../machines/wire/heartbeat.ts';
import type { InventoryItem } from '../../machines/wire/inventory.ts';
import { readProcesses } from './processes.ts';
import type { Listed } from './shortened.ts';
import { createSocketReader, type Sockets } from './sockets.ts';
import { createResourceMeter } from './system.ts';

export type Telemetry = {
  /** Open connections and listening services. Never rejects. */
  sockets(): Promise<Sockets>;
  /** Use since the last look, and the node's load. */
  resources(): Promise<HeartbeatRequest['resources']>;
  processes(): Promise<Listed<InventoryItem>>;
};

/** Measures this node by its kernel; the free space is that of the state directory. */
export function createTelemetry(stateDir: string): Telemetry {
  return {
    sockets: createSocketReader(),
    resources: createResourceMeter(stateDir),
    processes: () => readProcesses(),
  };
}
