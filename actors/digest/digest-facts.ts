// Collects what a digest tells: sensors, alerts, programs, coverage, certificates and license of a fleet or a group, for one
// stretch of time. When the event store does not answer, the digest says so and is made all the same. decision: D166
import { ALERT_SEVERITIES, type AlertSeverity } from '../../machines/console/delivery/alert.ts';
import type {
  Asked,
  Digest,
  DigestAlert,
  DigestCertificate,
  DigestCoverage,
  DigestLicense,
  DigestProgram,
  DigestTrouble,
  Some,
} from '../../machines/console/digest/digest.ts';
import {
  DIGEST_ALERTS_READ_MAX,
  DIGEST_ALERTS_SHOWN_MAX,
  DIGEST_CERTIFICATE_SOON_MS,
  DIGEST_ITEMS_SHOWN_MAX,
  DIGEST_PROGRAM_SENSORS_MAX,
  DIGEST_PROGRAMS_BACK_MS,
  DIGEST_PROGRAMS_READ_MAX,
  PAGE_ITEMS_MAX,
} from '../../machines/limits.ts';
import { LOSS_PLACES, type LossPlace } from '../../machines/wire/loss.ts';
import type { AlertRow, AlertStore } from '../../storage/ports/detection/alert-store.ts';
import type { DigestRow } from '../../storage/ports/digest/digest-store.ts';
import type { SensorRegistry, SensorRow } from '../../storage/ports/fleet/sensor-registry.ts';
import type { LabelStore } from '../../storage/ports/fleet/teams.ts';
import {
  type EventStore,
  EventStoreUnavailable,
  SearchTooLarge,
} from '../../storage/ports/telemetry/event-store.ts';
import type { TelemetryStore } from '../../storage/ports/telemetry/telemetry-store.ts';
import type { FleetEntry } from '../fleet/fleet-live-view.ts';

export type DigestFactsDeps = {
  readonly registry: Pick<SensorRegistry, 'listSensors'>;
  readonly groups: Pick<LabelStore, 'get'>;
  readonly alerts: Pick<AlertStore, 'list'>;
  readonly events: Pick<EventStore, 'shared'>;
  readonly telemetry: Pick<TelemetryStore, 'coverageOfFleet'>;
  readonly entryOf: (sensorId: string) => FleetEntry | undefined;
  readonly license: () => DigestLicense;
  readonly baseUrl: () => string;
};
export type DigestAsked = {
  readonly row: Pick<DigestRow, 'digestId' | 'name' | 'groupId' | 'timeZone'>;
  readonly day: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
  readonly isTest: boolean;
  readonly untold: Digest['untold'];
  readonly signal: AbortSignal;
};
export type DigestFacts = {
  /** Null: its group is gone. Rejects with StoreUnavailable. */
  collect(asked: DigestAsked): Promise<Digest | null>;
};
type Members = ReadonlyMap<string, SensorRow>;

/** Makes the collector. */
export function createDigestFacts(deps: DigestFactsDeps): DigestFacts {
  return {
    async collect(asked) {
      const { row, day, fromMs, toMs, nowMs, isTest, untold } = asked;
      const { digestId, name, groupId, timeZone } = row;
      const group = groupId === null ? null : await deps.groups.get(groupId);
      if (groupId !== null && group === null) return null;
      const members = await membersOf(deps, groupId);
      const entries = [...members.values()].map((sensor) => ({
        sensor,
        entry: deps.entryOf(sensor.sensorId),
      }));
      return {
        ...{ digestId, name, group: group?.name ?? null, day, timeZone, fromMs, toMs, isTest },
        ...{ madeAtMs: nowMs, baseUrl: deps.baseUrl().replace(/\/+$/, ''), untold },
        sensors: countsOf(entries, asked),
        alerts: await alertsOf(deps, asked),
        programs: await orSaid(() => programsOf(deps, asked, members)),
        coverage: await orSaid(() => coverageOf(deps, asked, members)),
        trouble: troubleOf(entries),
        certificates: certificatesOf(members, nowMs),
        license: deps.license(),
      };
    },
  };
}

async function membersOf(
  { registry }: DigestFactsDeps,
  groupId: string | null,
): Promise<Map<string, SensorRow>> {
  const members = new Map<string, SensorRow>();
  for (let after: { nodeName: string; sensorId: string } | null = null; ; ) {
    const page: readonly SensorRow[] = await registry.listSensors({
      ...{ limit: PAGE_ITEMS_MAX, after, ...(groupId === null ? {} : { groupId }) },
    });
    for (const row of page) members.set(row.sensorId, row);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ITEMS_MAX) return members;
    after = { nodeName: last.nodeName, sensorId: last.sensorId };
  }
}

type Seen = { readonly sensor: SensorRow; readonly entry: FleetEntry | undefined };

function countsOf(entries: readonly Seen[], { fromMs, toMs }: DigestAsked): Digest['sensors'] {
  const count = (isMeant: (seen: Seen) => boolean): number => entries.filter(isMeant).length;
  return {
    total: count(({ sensor }) => sensor.revokedAtMs === null),
    healthy: count(({ entry }) => entry?.trust_health === 'healthy'),
    enrolled: count(({ sensor: { enrolledAtMs: ms } }) => ms >= fromMs && ms < toMs),
    revoked: count(({ sensor }) => sensor.revokedAtMs !== null),
    contained: count(({ entry }) => entry?.is_contained === true),
  };
}

async function alertsOf(
  { alerts }: DigestFactsDeps,
  { row: { groupId }, fromMs, toMs }: DigestAsked,
): Promise<Digest['alerts']> {
  const found: AlertRow[] = [];
  let before: string | null = null;
  let read = 0;
  let isWhole = false;
  while (!isWhole && read < DIGEST_ALERTS_READ_MAX) {
    const page: readonly AlertRow[] = await alerts.list({
      ...{ fromMs, toMs, limit: PAGE_ITEMS_MAX, before },
    });
    read += page.length;
    found.push(...page.filter(({ alert }) => groupId === null || alert.groupIds.includes(groupId)));
    before = page.at(-1)?.alert.alertId ?? null;
    isWhole = page.length < PAGE_ITEMS_MAX;
  }
  const opened = Object.fromEntries(ALERT_SEVERITIES.map((one) => [one, 0])) as Record<
    AlertSeverity,
    number
  >;
  for (const { severity } of found) opened[severity] += 1;
  const rank = ({ severity }: AlertRow): number => ALERT_SEVERITIES.indexOf(severity);
  const top = found
    .sort(
      (a, b) =>
        rank(b) - rank(a) || b.count - a.count || (a.alert.alertId < b.alert.alertId ? 1 : -1),
    )
    .slice(0, DIGEST_ALERTS_SHOWN_MAX)
    .map((one): DigestAlert => {
      const { alertId, headline, nodeName } = one.alert;
      return {
        ...{ alertId, headline, nodeName, severity: one.severity },
        count: one.count,
        state: one.state,
      };
    });
  return { opened, isWhole, top };
}

/** Programs that none of the fleet ran before, and that ran here. */
async function programsOf(
  { events }: DigestFactsDeps,
  { row: { groupId }, fromMs, toMs, signal }: DigestAsked,
  members: Members,
): Promise<Some<DigestProgram>> {
  const values = await events.shared({
    ...{ field: 'process.binary', eventKinds: ['process_exec'], toMs, signal, sensorsMin: 1 },
    ...{ fromMs: fromMs - DIGEST_PROGRAMS_BACK_MS, firstFromMs: fromMs },
    ...{ sensorsNamedMax: DIGEST_PROGRAM_SENSORS_MAX, limit: DIGEST_PROGRAMS_READ_MAX },
  });
  const here = values.flatMap(({ value: binary, sensors, sensorIds }): readonly DigestProgram[] => {
    const own = sensorIds.filter((sensorId) => members.has(sensorId));
    const [first] = own;
    if (first === undefined) return [];
    const count = groupId === null ? sensors : own.length;
    return [{ binary, sensors: count, nodeName: members.get(first)?.nodeName ?? first }];
  });
  return someOf(here);
}

async function coverageOf(
  { telemetry }: DigestFactsDeps,
  { fromMs, toMs }: DigestAsked,
  members: Members,
): Promise<DigestCoverage> {
  const losses: Partial<Record<LossPlace, number>> = {};
  const losers: { nodeName: string; lost: number }[] = [];
  let [seen, lost] = [0, 0];
  for (let afterSensorId: string | null = null; ; ) {
    const page: Awaited<ReturnType<TelemetryStore['coverageOfFleet']>> =
      await telemetry.coverageOfFleet({ fromMs, toMs, limit: PAGE_ITEMS_MAX, afterSensorId });
    for (const one of page) {
      const sensor = members.get(one.sensorId);
      if (sensor === undefined) continue;
      let own = 0;
      for (const place of LOSS_PLACES) {
        if (one[place] === 0) continue;
        own += one[place];
        losses[place] = (losses[place] ?? 0) + one[place];
      }
      if (own > 0) losers.push({ nodeName: sensor.nodeName, lost: own });
      seen += one.seen;
      lost += own;
    }
    afterSensorId = page.at(-1)?.sensorId ?? null;
    if (page.length < PAGE_ITEMS_MAX) break;
  }
  losers.sort((a, b) => b.lost - a.lost || (a.nodeName < b.nodeName ? -1 : 1));
  return { seen, lost, losses, worst: someOf(losers) };
}

function troubleOf(entries: readonly Seen[]): Some<DigestTrouble> {
  const found = entries.flatMap(({ sensor, entry }): readonly DigestTrouble[] => {
    const { sensorId, nodeName, revokedAtMs } = sensor;
    if (revokedAtMs !== null || entry === undefined) return [];
    const isEngine = entry.engine === 'down' || entry.engine === 'degraded';
    const why = [
      ...entry.because.map(({ code }) => code.replaceAll('_', ' ')),
      ...(isEngine ? [`engine ${entry.engine}`] : []),
    ];
    const isHurt = entry.trust_health === 'degraded' || entry.trust_health === 'renewal_due';
    return isEngine || isHurt ? [{ sensorId, nodeName, why }] : [];
  });
  return someOf(found);
}

function certificatesOf(members: Members, nowMs: number): Some<DigestCertificate> {
  const found = [...members.values()].flatMap((row): readonly DigestCertificate[] => {
    const { sensorId, nodeName, revokedAtMs, currentNotAfterMs: notAfterMs } = row;
    if (revokedAtMs !== null || notAfterMs === null) return [];
    return notAfterMs - nowMs < DIGEST_CERTIFICATE_SOON_MS
      ? [{ sensorId, nodeName, notAfterMs }]
      : [];
  });
  return someOf(found.sort((a, b) => a.notAfterMs - b.notAfterMs));
}

function someOf<Item>(items: readonly Item[]): Some<Item> {
  return { items: items.slice(0, DIGEST_ITEMS_SHOWN_MAX), total: items.length };
}

async function orSaid<Facts>(ask: () => Promise<Facts>): Promise<Asked<Facts>> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof SearchTooLarge) return 'too_many';
    if (error instanceof EventStoreUnavailable) return 'unavailable';
    throw error;
  }
}
