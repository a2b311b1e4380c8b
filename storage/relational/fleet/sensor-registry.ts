// The registry of sensors, certificates and tokens on PostgreSQL. invariant: I2, I3, I15
import { type Kysely, sql } from 'kysely';
import { auditOfRevocation } from '../../ports/audit/audit-entries.ts';
import type {
  LabelFilter,
  SensorQuery,
  SensorRegistry,
  SensorRow,
} from '../../ports/fleet/sensor-registry.ts';
import type { Timers } from '../../ports/plumbing/clock.ts';
import type { Logger } from '../../ports/plumbing/logger.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { Database } from '../plumbing/tables.ts';
import { notifyIdentities } from '../plumbing/transaction.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';
import { enroll } from '../trust/enroll.ts';
import { watchIdentities } from '../trust/identity-watch.ts';
import { activateCertificate, addPendingCertificate } from '../trust/renew.ts';
import { createTokens } from '../trust/tokens.ts';
import {
  briefOf,
  identityOf,
  readIdentities,
  selectBriefly,
  selectIdentities,
  selectSensors,
  sensorOf,
} from './sensor-rows.ts';

export type SensorRegistryOptions = {
  readonly db: Kysely<Database>;
  /** The watch of identities opens a connection of its own. */
  readonly url: string;
  readonly timers: Timers;
  readonly logger: Logger;
};

/** Makes the registry. */
export function createSensorRegistry(options: SensorRegistryOptions): SensorRegistry {
  const { db, url, timers, logger } = options;
  return {
    ...createTokens(db),
    enroll: (input) => enroll(db, input),
    addPendingCertificate: (input) => addPendingCertificate(db, input),
    activateCertificate: (input) => activateCertificate(db, input),
    revoke: (input) => revoke(db, input),
    async loadIdentities() {
      return (await orUnavailable(() => selectIdentities(db).execute())).map(identityOf);
    },
    identitiesOf: (sensorId) => orUnavailable(() => readIdentities(db, storableText(sensorId))),
    async loadSensors() {
      const rows = await orUnavailable(() =>
        selectSensors(db).orderBy('s.node_name').orderBy('s.sensor_id').execute(),
      );
      return rows.map(sensorOf);
    },
    getSensor: (sensorId) => orUnavailable(() => getSensor(db, sensorId)),
    async listSensors(query) {
      const page = listed(selectSensors(db), query);
      return (await orUnavailable(() => page.execute())).map(sensorOf);
    },
    async listBriefly(query) {
      const page = listed(selectBriefly(db), query);
      return (await orUnavailable(() => page.execute())).map(briefOf);
    },
    async sensorsOf(sensorIds) {
      if (sensorIds.length === 0) return [];
      const rows = selectSensors(db)
        .where('s.sensor_id', 'in', sensorIds.map(storableText))
        .orderBy('s.node_name')
        .orderBy('s.sensor_id');
      return (await orUnavailable(() => rows.execute())).map(sensorOf);
    },
    watchIdentities: (watch) => watchIdentities({ url, timers, logger }, watch),
  };
}

/** One page of a selection of sensors, by name; whatever columns it has, it is of the table `s`. */
function listed<Query>(
  from: Query,
  { limit, after, nodeNameContains, ...labels }: SensorQuery,
): Query {
  const all = from as unknown as ReturnType<typeof selectSensors>;
  let page = all.orderBy('s.node_name').orderBy('s.sensor_id').limit(limit);
  for (const condition of labelConditions(labels)) page = page.where(condition);
  if (after !== null) {
    page = page.where((eb) =>
      eb(
        eb.refTuple('s.node_name', 's.sensor_id'),
        '>',
        eb.tuple(storableText(after.nodeName), storableText(after.sensorId)),
      ),
    );
  }
  if (nodeNameContains !== undefined) {
    const wanted = storableText(nodeNameContains).toLowerCase();
    page = page.where((eb) =>
      eb(eb.fn('strpos', [eb.fn('lower', ['s.node_name']), eb.val(wanted)]), '>', 0),
    );
  }
  return page as unknown as Query;
}

/** One condition for each label that is asked for. */
function labelConditions({ tag, groupId, teamId }: LabelFilter) {
  const has = (table: string, column: string, value: string) =>
    sql<boolean>`EXISTS (SELECT 1 FROM ${sql.table(table)} AS l
      WHERE l.sensor_id = s.sensor_id AND ${sql.ref(`l.${column}`)} = ${storableText(value)})`;
  return [
    ...(tag === undefined ? [] : [has('sensor_tags', 'tag', tag)]),
    ...(groupId === undefined ? [] : [has('sensor_group_members', 'group_id', groupId)]),
    ...(teamId === undefined ? [] : [has('team_sensors', 'team_id', teamId)]),
  ];
}

async function getSensor(db: Kysely<Database>, sensorId: string): Promise<SensorRow | null> {
  const row = await selectSensors(db)
    .where('s.sensor_id', '=', storableText(sensorId))
    .executeTakeFirst();
  return row === undefined ? null : sensorOf(row);
}

function revoke(
  db: Kysely<Database>,
  input: Parameters<SensorRegistry['revoke']>[0],
): Promise<SensorRow | null> {
  return orUnavailable(() =>
    db.transaction().execute(async (trx) => {
      const sensorId = storableText(input.sensorId);
      const changed = await trx
        .updateTable('sensors')
        .set({ revoked_at_ms: input.nowMs, revoked_reason: storableText(input.reason) })
        .where('sensor_id', '=', sensorId)
        .where('revoked_at_ms', 'is', null)
        .returning('sensor_id')
        .executeTakeFirst();
      const sensor = await getSensor(trx, sensorId);
      const result = changed !== undefined ? 'ok' : sensor === null ? 'not_found' : 'unchanged';
      await appendAudit(trx, [auditOfRevocation(input, result)]);
      // A repeat notifies as well: it costs little and heals a replica that missed the first.
      if (sensor !== null) await notifyIdentities(trx, sensorId);
      return sensor;
    }),
  );
}
