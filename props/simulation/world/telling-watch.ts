// Watches at the Console's edge what Sensors tell beside events, and what the Console answers: flows in heartbeats, habits
// in inventories.
import { SENSOR_PATHS } from '../../../machines/wire/enrollment.ts';
import type { HeartbeatRequest } from '../../../machines/wire/heartbeat.ts';
import type { InventoryResponse, InventorySection } from '../../../machines/wire/inventory.ts';
import { flowName } from '../../../storage/memory/telemetry/telemetry-rows.ts';
import type { EdgeAnswer, EdgeRequest } from './edge-exchange.ts';
import type { World } from './world.ts';

const NO_FLOWS = '"flows":[]';
const HABITS = '"baselines":{';
const ANSWERS = ['stored', 'unchanged', 'need_full'] as const;
type Told = { readonly sections: { readonly baselines?: InventorySection } };

/** Tells what an answered request has told. */
export function watchTelling(
  { world, console }: { readonly world: World; readonly console: string },
  { path, body }: EdgeRequest,
  answer: EdgeAnswer,
  fingerprint: string | null,
): void {
  if (path === SENSOR_PATHS.heartbeat && !body.includes(NO_FLOWS)) {
    const { flows } = JSON.parse(body) as HeartbeatRequest;
    world.observe({
      ...{ kind: 'flows.taken', console, fingerprint },
      flows: flows.map((flow) => ({ name: nameOf(flow), connections: flow.connections })),
    });
  }
  if (path !== SENSOR_PATHS.inventory || !body.includes(HABITS)) return;
  const habits = (JSON.parse(body) as Told).sections.baselines;
  const said = JSON.parse(answer.body) as InventoryResponse;
  const how = ANSWERS.find((one) => said[one].includes('baselines'));
  if (habits === undefined || how === undefined) return;
  const isDelta = 'base_hash' in habits;
  world.observe({
    ...{ kind: 'habits.told', console, fingerprint, hash: habits.hash, isDelta, answer: how },
  });
}

function nameOf(flow: HeartbeatRequest['flows'][number]): string {
  return flowName({
    firstSeenAtMs: Date.parse(flow.first_seen_at),
    ...{ direction: flow.direction, protocol: flow.protocol, remoteIp: flow.remote_ip },
    ...{ port: flow.port ?? 0, domain: flow.domain ?? '', binary: flow.binary ?? '' },
    containerId: flow.container_id ?? '',
  });
}
