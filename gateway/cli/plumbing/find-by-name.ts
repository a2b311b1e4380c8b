// What people name: a sensor by its node name, a team or group by its name, a person by the e-mail address. An id is
// always right; a name only when exactly one has it.
import type { LabelView } from '../../operator-plane/fleet/labels.ts';
import type { SensorSummary } from '../../operator-plane/fleet/sensor-view.ts';
import type { Client, Page } from './client.ts';
import { CommandFailure, EXIT } from './exit.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const LIST_MAX = 1_000_000;

/** A sensor by id, or by its exact node name when only one has it. */
export async function findSensor(client: Client, name: string): Promise<SensorSummary> {
  if (UUID.test(name)) return client.get<SensorSummary>(`/api/v2/sensors/${name}`);
  const found: SensorSummary[] = [];
  const query = { node_name: name };
  for await (const one of client.all<SensorSummary>('/api/v2/sensors', query, LIST_MAX)) {
    if (one.node_name === name) found.push(one);
  }
  const [only, another] = found;
  if (only === undefined) {
    const next = 'see: service-console sensors list';
    throw new CommandFailure(EXIT.notFound, `there is no sensor named ${name}`, next);
  }
  if (another === undefined) return only;
  const ids = found.map(({ sensor_id: id }) => id).join(', ');
  throw new CommandFailure(EXIT.usage, `${found.length} sensors are named ${name}`, `use ${ids}`);
}

/** A team by id or name. */
export function findTeam(client: Client, name: string): Promise<LabelView> {
  return findLabel(client, 'teams', name);
}

/** A group by id or name. */
export function findGroup(client: Client, name: string): Promise<LabelView> {
  return findLabel(client, 'groups', name);
}

/** A team or group by id, or by its name without case. */
export async function findLabel(
  client: Client,
  path: 'teams' | 'groups',
  name: string,
): Promise<LabelView> {
  if (UUID.test(name)) return client.get<LabelView>(`/api/v2/${path}/${name}`);
  const wanted = name.toLowerCase();
  for await (const one of client.all<LabelView>(`/api/v2/${path}`, {}, LIST_MAX)) {
    if (one.name.toLowerCase() === wanted) return one;
  }
  const next = `see: service-console ${path} list`;
  throw new CommandFailure(EXIT.notFound, `no one of the ${path} is named ${name}`, next);
}

/** The id of a person by id or e-mail address. */
export async function findUserId(client: Client, name: string): Promise<string> {
  if (UUID.test(name)) return name;
  type Found = Page<{ readonly user_id: string }>;
  const { items } = await client.get<Found>('/api/v2/users', { email: name });
  const [user] = items;
  if (user !== undefined) return user.user_id;
  throw new CommandFailure(EXIT.notFound, `nobody has the address ${name}`);
}
