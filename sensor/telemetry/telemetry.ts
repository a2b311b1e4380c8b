// What the Sensor measures of its node for heartbeats and inventories.
import type { HeartbeatRequest } from '../../machines/wire/heartbeat.ts';
import type { InventoryItem } from '../../machines/wire/inventory.ts';
import {
  createImageReader,
  type ImageSources,
  NO_IMAGE_SOURCES,
  type TellRuntime,
} from './images/images.ts';
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
  /** Of every container runtime; null while there is one and none has answered yet. Never rejects. */
  images(): Promise<Listed<InventoryItem> | null>;
};

/** Measures this node by its kernel; the free space is that of the state directory. */
export function createTelemetry(
  stateDir: string,
  sources: ImageSources = NO_IMAGE_SOURCES,
  tell?: TellRuntime,
): Telemetry {
  return {
    sockets: createSocketReader(),
    resources: createResourceMeter(stateDir),
    processes: () => readProcesses(),
    images: createImageReader(sources, tell),
  };
}
