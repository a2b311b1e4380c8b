// A pack by its id or name, and targets as people write them: `sensor:NAME`, `group:NAME`, `tag:NAME`, `fleet`.
import type { Target } from '../../../machines/console/policy/book.rules.ts';
import type { PackView, VersionView } from '../../operator-plane/policy/pack-view.ts';
import type { Client } from '../plumbing/client.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { findGroup, findSensor } from '../plumbing/find-by-name.ts';

export type PackDetail = PackView & { readonly versions: readonly VersionView[] };
const LIST_MAX = 10_000;

/** Every pack. */
export async function allPacks(client: Client): Promise<readonly PackView[]> {
  const found: PackView[] = [];
  for await (const one of client.all<PackView>('/api/v2/packs', {}, LIST_MAX)) found.push(one);
  return found;
}

/** A pack by id or by its name without case; fails when there is none. */
export async function findPack(client: Client, asked: string): Promise<PackDetail> {
  const wanted = asked.toLowerCase();
  const packs = await allPacks(client);
  const found = packs.find((one) => one.pack_id === asked || one.name.toLowerCase() === wanted);
  if (found === undefined) {
    const next = 'see: service-console packs list';
    throw new CommandFailure(EXIT.notFound, `there is no pack named ${asked}`, next);
  }
  return client.get<PackDetail>(`/api/v2/packs/${found.pack_id}`);
}

/** The newest version; fails when nothing was published. */
export function latestOf(pack: PackView): number {
  if (pack.latest_version !== null) return pack.latest_version;
  throw new CommandFailure(EXIT.refused, `nothing of ${pack.name} is published`);
}

/** A target by what people write. */
export async function targetOf(client: Client, text: string): Promise<Target> {
  if (text === 'fleet') return { kind: 'fleet', id: 'fleet' };
  const at = text.indexOf(':');
  const [kind, name] = [text.slice(0, at), text.slice(at + 1)];
  if (kind === 'sensor') return { kind, id: (await findSensor(client, name)).sensor_id };
  if (kind === 'group') return { kind, id: (await findGroup(client, name)).id };
  if (kind === 'tag' && name !== '') return { kind, id: name };
  throw new CommandFailure(
    EXIT.usage,
    `${text} is no target`,
    'sensor:NAME, group:NAME, tag:NAME or fleet',
  );
}
