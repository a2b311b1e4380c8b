// POST /sensors/inventory: sections by hash; only what changed is written.
import type { Inventory } from '../../actors/telemetry/inventory.ts';
import { INVENTORY_BODY_MAX_BYTES } from '../../machines/limits.ts';
import { InventoryRequest } from '../../machines/wire/inventory.ts';
import { parserOf } from '../../machines/wire/parse.ts';
import type { Exchange } from '../listener/exchange.ts';
import { respondJson } from '../listener/respond.ts';
import { admitWithBody, answerRefusal } from './admission.ts';
import type { AdmissionDeps } from './deps.ts';

const parse = parserOf(InventoryRequest);

/** Handles one inventory report. */
export async function handleInventory(
  deps: AdmissionDeps & { readonly inventory: Inventory },
  exchange: Exchange,
): Promise<void> {
  const admitted = await admitWithBody(deps, exchange, { maxBytes: INVENTORY_BODY_MAX_BYTES });
  if (admitted === null) return;
  const request = parse(admitted.text);
  if (!request.ok) return answerRefusal(exchange, request);
  const { sensorId } = admitted.identity;
  const outcome = await deps.inventory.receive(sensorId, request.value, deps.now());
  if (!outcome.ok) return answerRefusal(exchange, outcome);
  respondJson(exchange, 200, outcome.response);
}
