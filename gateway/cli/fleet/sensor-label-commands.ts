// `service-console sensors tag|untag|set-group|set-role`: what a sensor is labelled with. decision: D43
import type { Command } from 'commander';
import type { SensorSummary } from '../../operator-plane/fleet/sensor-view.ts';
import {
  type CommandIo,
  clientOf,
  groupOf,
  type SharedOptions,
  withTimeout,
} from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { findGroup, findSensor } from '../plumbing/find-by-name.ts';
import { plain } from '../plumbing/terminal.ts';

type Options = Pick<SharedOptions, 'timeout'>;
type OrNone = Options & { readonly none?: boolean };
type Patch = Partial<Pick<SensorSummary, 'tags' | 'group_ids' | 'declared_role'>>;

/** Registers the commands below `sensors`. */
export function addCommands(program: Command, io: CommandIo): void {
  const sensors = groupOf(program, 'sensors');
  async function change(
    name: string,
    options: Options,
    patchOf: (sensor: SensorSummary, client: ReturnType<typeof clientOf>) => Promise<Patch>,
  ): Promise<SensorSummary> {
    const client = clientOf(io, options);
    const sensor = await findSensor(client, name);
    const path = `/api/v2/sensors/${sensor.sensor_id}`;
    const patch = await patchOf(sensor, client);
    return client.send<SensorSummary>('PATCH', path, patch);
  }
  const told = (sensor: SensorSummary, what: string) => {
    io.terminal.talk(plain(`${sensor.node_name}: ${what}`));
    io.terminal.out(sensor.sensor_id);
  };
  const tellTags = (sensor: SensorSummary) =>
    told(sensor, sensor.tags.length === 0 ? 'no tags' : `tags ${sensor.tags.join(', ')}`);

  withTimeout(sensors.command('tag').description('give a sensor tags'))
    .argument('<sensor>', 'id or node name')
    .argument('<tag...>')
    .action(async (name: string, tags: readonly string[], options: Options) => {
      tellTags(await change(name, options, async (had) => ({ tags: [...had.tags, ...tags] })));
    });

  withTimeout(sensors.command('untag').description('take tags from a sensor'))
    .argument('<sensor>', 'id or node name')
    .argument('<tag...>')
    .action(async (name: string, tags: readonly string[], options: Options) => {
      const left = async (had: SensorSummary) => ({
        tags: had.tags.filter((one) => !tags.includes(one)),
      });
      tellTags(await change(name, options, left));
    });

  withTimeout(sensors.command('set-group').description('put a sensor into these groups only'))
    .argument('<sensor>', 'id or node name')
    .argument('[group...]', 'ids or names')
    .option('--none', 'into no group')
    .action(async (name: string, groups: readonly string[], options: OrNone) => {
      needOne(groups.length > 0, options, 'a group');
      const sensor = await change(name, options, async (_, client) => {
        const found = [];
        for (const one of groups) found.push((await findGroup(client, one)).id);
        return { group_ids: found };
      });
      told(sensor, groups.length === 0 ? 'in no group' : `in ${groups.join(', ')}`);
    });

  withTimeout(sensors.command('set-role').description('declare the role of a sensor'))
    .argument('<sensor>', 'id or node name')
    .argument('[role]')
    .option('--none', 'no role')
    .action(async (name: string, role: string | undefined, options: OrNone) => {
      needOne(role !== undefined, options, 'a role');
      const patch = async () => ({ declared_role: role ?? null });
      const sensor = await change(name, options, patch);
      told(sensor, `role ${sensor.declared_role ?? 'none'}`);
    });
}

function needOne(isGiven: boolean, { none }: OrNone, what: string): void {
  if (isGiven === (none !== true)) return;
  throw new CommandFailure(EXIT.usage, `name ${what}, or say --none`);
}
