// The stores of the fleet in PostgreSQL.
import type { FleetStores } from '../../ports/fleet/stores.ts';
import type { RelationalContext } from '../plumbing/context.ts';
import { writeFactRows } from './fact-rows.ts';
import { createFactWriter } from './fact-writer.ts';
import { createTeams } from './ownership.ts';
import { createSensorRegistry } from './sensor-registry.ts';

/** Opens every store of this capability; closing writes what the fact writer holds. */
export function openFleetStores(context: RelationalContext): FleetStores {
  const { db, onClose } = context;
  const facts = createFactWriter({ ...context, write: (rows) => writeFactRows(db, rows) });
  onClose(() => facts.close());
  return { sensors: createSensorRegistry(context), facts, teams: createTeams(db) };
}
