// What a Sensor can do, one line each, in the order in which they are opened, tell and begin to collect; they are closed
// in reverse. decision: D59
import { collection } from './capabilities/collection/collection.ts';
import { containers } from './capabilities/containers/containers.ts';
import { containment } from './capabilities/containment/containment.ts';
import { engine } from './capabilities/engine/engine.ts';
import { exercises } from './capabilities/exercises/exercises.ts';
import { inventory } from './capabilities/inventory/inventory.ts';
import { losses } from './capabilities/losses/losses.ts';
import { machines } from './capabilities/machines/machines.ts';
import { policy } from './capabilities/policy/policy.ts';
import { telemetry } from './capabilities/telemetry/telemetry.ts';
import { trust } from './capabilities/trust/trust.ts';
import type { SensorCapability } from './capability.ts';

export const CAPABILITIES: readonly SensorCapability[] = [
  containment,
  telemetry,
  policy,
  engine,
  collection,
  containers,
  trust,
  losses,
  inventory,
  machines,
  exercises,
];
