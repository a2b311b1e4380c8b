// `service-console users tag|untag|sensors`: what an account is labelled with, and the sensors it owns by itself, beside
// those of its teams. decision: D43
import type { Command } from 'commander';
import {
  type CommandIo,
  clientOf,
  type SharedOptions,
  withTimeout,
} from '../plumbing/command-run.ts';
import { findSensor, findUserId } from '../plumbing/find-by-name.ts';
import { plain } from '../plumbing/terminal.ts';

type Options = Pick<SharedOptions, 'timeout'>;
type Listing = Options & { readonly add?: readonly string[]; readonly drop?: readonly string[] };
type Tagged = {
  readonly user_id: string;
  readonly email: string;
  readonly tags: readonly string[];
  readonly revision: number;
};
type SensorIds = { readonly sensor_ids: readonly string[] };

/** Registers the commands below `users`. */
export function addUserLabelCommands(users: Command, io: CommandIo): void {
  for (const [verb, about] of [
    ['tag', 'give an account tags'],
    ['untag', 'take tags from an account'],
  ] as const) {
    withTimeout(users.command(verb).description(about))
      .argument('<user>', 'id or e-mail address')
      .argument('<tag...>')
      .action(async (name: string, named: readonly string[], options: Options) => {
        const client = clientOf(io, options);
        const path = `/api/v2/users/${await findUserId(client, name)}`;
        const { tags: had, revision } = await client.get<Tagged>(path);
        const rest = had.filter((one) => !named.includes(one));
        const tags = verb === 'tag' ? [...rest, ...named] : rest;
        const user = await client.send<Tagged>('PATCH', path, { revision, tags });
        const told = user.tags.length === 0 ? 'no tags' : `tags ${user.tags.join(', ')}`;
        io.terminal.talk(plain(`${user.email}: ${told}`));
        io.terminal.out(user.user_id);
      });
  }

  withTimeout(users.command('sensors').description('the sensors an account owns by itself'))
    .argument('<user>', 'id or e-mail address')
    .option('--add <sensor...>', 'ids or node names')
    .option('--drop <sensor...>', 'ids or node names')
    .action(async (name: string, options: Listing) => {
      const client = clientOf(io, options);
      const path = `/api/v2/users/${await findUserId(client, name)}/sensors`;
      let { sensor_ids: owned } = await client.get<SensorIds>(path);
      const { add = [], drop = [] } = options;
      if (add.length + drop.length > 0) {
        const idOf = async (one: string) => (await findSensor(client, one)).sensor_id;
        const [added, dropped] = [
          await Promise.all(add.map(idOf)),
          await Promise.all(drop.map(idOf)),
        ];
        const kept = owned.filter((id) => !added.includes(id) && !dropped.includes(id));
        const list = { sensor_ids: [...kept, ...added] };
        ({ sensor_ids: owned } = await client.send<SensorIds>('PUT', path, list));
      }
      io.terminal.talk(plain(`${name} owns ${owned.length} sensors by itself.`));
      for (const id of owned) io.terminal.out(id);
    });
}
