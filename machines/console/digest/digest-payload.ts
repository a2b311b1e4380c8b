// A digest as the body of a webhook: the same facts as the mail, as data. Texts of nodes are in it as they are. decision: D166
import type { Asked, Digest, Some } from './digest.ts';

const VERSION = 1;

/** Lays out a digest for a receiver of JSON. */
export function payloadOf(digest: Digest): Readonly<Record<string, unknown>> {
  const { sensors, alerts, trouble, certificates, license, baseUrl } = digest;
  return {
    ...{ kind: 'fleet_digest', version: VERSION, digest_id: digest.digestId, name: digest.name },
    ...{ group: digest.group, day: digest.day, time_zone: digest.timeZone },
    ...{ from: time(digest.fromMs), to: time(digest.toMs), made_at: time(digest.madeAtMs) },
    is_test: digest.isTest,
    console_url: baseUrl,
    untold: digest.untold,
    sensors,
    alerts: {
      ...{ opened: alerts.opened, is_whole: alerts.isWhole },
      top: alerts.top.map(({ alertId, severity, headline, nodeName, count, state }) => ({
        ...{ alert_id: alertId, severity, headline, node_name: nodeName, matches: count, state },
        url: `${baseUrl}/alerts/${encodeURIComponent(alertId)}`,
      })),
    },
    new_programs: told(digest.programs, (some) =>
      someOf(some, ({ binary, sensors: count, nodeName }) => ({
        ...{ binary, sensors: count, node_name: nodeName },
      })),
    ),
    coverage: told(digest.coverage, ({ seen, lost, losses, worst }) => ({
      ...{ seen, lost, losses },
      worst: someOf(worst, (one) => ({ node_name: one.nodeName, lost: one.lost })),
    })),
    sensors_in_trouble: someOf(trouble, ({ sensorId, nodeName, why }) => ({
      ...{ sensor_id: sensorId, node_name: nodeName, why },
    })),
    certificates_ending: someOf(certificates, ({ sensorId, nodeName, notAfterMs }) => ({
      ...{ sensor_id: sensorId, node_name: nodeName, not_after: time(notAfterMs) },
    })),
    license: {
      ...{ phase: license.phase, nodes_max: license.nodesMax },
      valid_until: license.validUntilMs === null ? null : time(license.validUntilMs),
      grace_until: license.graceUntilMs === null ? null : time(license.graceUntilMs),
    },
  };
}

function told<Facts extends object>(facts: Asked<Facts>, lay: (facts: Facts) => object): object {
  return typeof facts === 'string' ? { unknown_because: facts } : lay(facts);
}

function someOf<Item>({ items, total }: Some<Item>, lay: (item: Item) => object): object {
  return { total, items: items.map(lay) };
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
