// People and sensors for the contracts of teams, groups, tags and ownership.
import { randomUUID } from 'node:crypto';
import type { UserStore } from '../../storage/ports/access/users.ts';
import type { AuditLog, AuditRow } from '../../storage/ports/audit/audit-log.ts';
import type { SensorRegistry } from '../../storage/ports/fleet/sensor-registry.ts';
import type { TeamStore } from '../../storage/ports/fleet/teams.ts';
import { addUser } from './people.ts';
import { enrollment, hashOf, hex, NOW_MS } from './samples.ts';

const LIFE_MS = 900_000;

export type LabelPorts = {
  readonly teams: TeamStore;
  readonly users: UserStore;
  readonly sensors: SensorRegistry;
  readonly audit: AuditLog;
};

/** A new person's id. */
export async function addMember({ users }: Pick<LabelPorts, 'users'>): Promise<string> {
  return (await addUser(users)).userId;
}

/** A new sensor's id. */
export async function addSensor(
  { sensors }: Pick<LabelPorts, 'sensors'>,
  nodeName = `node-${hex(4)}`,
): Promise<string> {
  const tokenHash = hashOf(hex(16));
  const life = { nowMs: NOW_MS, expiresAtMs: NOW_MS + LIFE_MS };
  await sensors.createToken({
    ...{ tokenId: randomUUID(), hash: tokenHash, kind: 'enroll', sensorId: null },
    ...{ note: '', actor: 'test', ...life },
  });
  const asked = enrollment({ tokenHash });
  const outcome = await sensors.enroll({ ...asked, sensor: { ...asked.sensor, nodeName } });
  if (!outcome.ok) throw new Error(`the sensor was refused: ${outcome.code}`);
  return outcome.sensorId;
}

/** What the audit log tells of a target, oldest first. */
export async function lastEntries(
  { audit }: Pick<LabelPorts, 'audit'>,
  target: string,
): Promise<readonly AuditRow[]> {
  const rows = await audit.search({ target, order: 'newest', after: null, limit: 100 });
  return rows.toReversed();
}
