// `service-console sensors ...`
import type { Command } from 'commander';
import type { SensorDetail, SensorSummary } from '../../operator-plane/fleet/sensor-view.ts';
import {
  type CommandIo,
  clientOf,
  confirm,
  integerOf,
  type SharedOptions,
  tableOptions,
  watched,
  withOutput,
  withTimeout,
  withWatch,
} from '../plumbing/command-run.ts';
import { findGroup, findSensor, findTeam } from '../plumbing/find-by-name.ts';
import { printList, printRecord, type View } from '../plumbing/output.ts';
import { age } from '../plumbing/terminal.ts';
import { tellEnrollLine } from '../trust/enroll-line-text.ts';
import { reasonText } from './reason-text.ts';
import { LISTED_COLUMNS, SHOWN_COLUMNS } from './shown-columns.ts';

const LIST_MAX = 1_000_000;

type ListOptions = SharedOptions & {
  readonly name?: string;
  readonly health?: readonly string[];
  readonly trustState?: readonly string[];
  readonly tag?: string;
  readonly group?: string;
  readonly team?: string;
  readonly limit: string;
};
type Issued = { readonly secret: string; readonly enroll_command: string };

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const sensors = program.command('sensors').description('the fleet');

  addListCommand(sensors, io);

  withOutput(sensors.command('get').description('one sensor'))
    .argument('<sensor>', 'id or node name')
    .action(async (name: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      const client = clientOf(io, options);
      const { sensor_id: id } = await findSensor(client, name);
      const detail = await client.get<SensorDetail>(`/api/v2/sensors/${id}`);
      printRecord(io.terminal, detail, recordView(io.now()), shown);
    });

  withTimeout(sensors.command('revoke').description('revoke a sensor; final'))
    .argument('<sensor>', 'id or node name')
    .requiredOption('--reason <text>', 'kept in the audit log')
    .option('-y, --yes', 'do not ask')
    .action(async (name: string, options: RevokeOptions) => {
      const client = clientOf(io, options);
      const sensor = await findSensor(client, name);
      await confirm(io, {
        ...options,
        what: `Revoking ${sensor.node_name} (${sensor.sensor_id}) is final`,
        name: sensor.node_name,
      });
      await client.send('POST', `/api/v2/sensors/${sensor.sensor_id}/revoke`, {
        reason: options.reason,
      });
      io.terminal.talk(`${sensor.node_name} is revoked.`);
      io.terminal.out(sensor.sensor_id);
    });

  withTimeout(sensors.command('reenroll').description('make a token for a new certificate'))
    .argument('<sensor>', 'id or node name')
    .action(async (name: string, options: Pick<SharedOptions, 'timeout'>) => {
      const client = clientOf(io, options);
      const sensor = await findSensor(client, name);
      const issued = await client.send<Issued>(
        'POST',
        `/api/v2/sensors/${sensor.sensor_id}/reenroll`,
      );
      tellEnrollLine(io.terminal, issued.enroll_command);
      io.terminal.out(issued.secret);
    });
}

function addListCommand(sensors: Command, io: CommandIo): void {
  withWatch(withOutput(sensors.command('list').alias('ls').description('list sensors')))
    .option('--name <part>', 'only names that contain this')
    .option('--health <health...>', 'only these trust healths')
    .option('--trust-state <state...>', 'only these trust states')
    .option('--tag <tag>', 'only those with this tag')
    .option('--group <group>', 'only those of this group')
    .option('--team <team>', 'only those of this team')
    .option('--limit <number>', 'at most this many', '1000')
    .action(async (options: ListOptions) => {
      const limit = integerOf(options.limit, '--limit', LIST_MAX);
      const shown = tableOptions(options);
      const client = clientOf(io, options);
      const { group, team } = options;
      const labels = {
        tag: options.tag,
        group_id: group === undefined ? undefined : (await findGroup(client, group)).id,
        team_id: team === undefined ? undefined : (await findTeam(client, team)).id,
      };
      await watched(io, options, async () => {
        const query = {
          ...labels,
          node_name: options.name,
          trust_health: options.health,
          trust_state: options.trustState,
        };
        const found: SensorSummary[] = [];
        for await (const one of client.all<SensorSummary>('/api/v2/sensors', query, limit)) {
          found.push(one);
        }
        printList(io.terminal, found, listView(io.now()), shown);
      });
    });
}

type RevokeOptions = Pick<SharedOptions, 'timeout'> & {
  readonly reason: string;
  readonly yes?: boolean;
};

function listView(nowMs: number): View<SensorSummary> {
  const view = ownView(nowMs);
  return { ...view, columns: [...view.columns, ...LISTED_COLUMNS] };
}

function ownView(nowMs: number): View<SensorSummary> {
  return {
    name: (sensor) => sensor.sensor_id,
    empty: 'No sensors. Enrol one: service-console tokens create',
    columns: [
      { head: 'NAME', read: (sensor) => sensor.node_name },
      { head: 'ID', read: (sensor) => sensor.sensor_id },
      { head: 'HEALTH', read: (sensor) => sensor.trust_health ?? '-' },
      { head: 'TRUST', read: (sensor) => sensor.trust_state ?? '-' },
      { head: 'STREAM', read: (sensor) => sensor.states?.stream ?? '-' },
      { head: 'ENGINE', read: engineOf },
      { head: 'HEARD', read: (sensor) => age(sensor.last_heartbeat_at, nowMs) },
      { head: 'AGE', read: (sensor) => age(sensor.enrolled_at, nowMs) },
      { head: 'VERSION', wide: true, read: (sensor) => sensor.sensor_version },
      { head: 'OS', wide: true, read: osOf },
      { head: 'KERNEL', wide: true, read: (sensor) => sensor.system.kernel_version },
      { head: 'FLAVOR', wide: true, read: (sensor) => sensor.flavor },
      { head: 'CERTIFICATE-ENDS', wide: true, read: (one) => one.certificate_expires_at ?? '-' },
      { head: 'TAGS', wide: true, read: (sensor) => sensor.tags.join(',') || '-' },
      {
        ...{ head: 'BECAUSE', wide: true },
        read: ({ because }) => because.map(({ code }) => code).join(',') || '-',
      },
    ],
  };
}

function recordView(nowMs: number): View<SensorDetail> {
  const view = ownView(nowMs);
  return {
    ...view,
    columns: [
      ...view.columns.filter(({ head }) => head !== 'BECAUSE'),
      { head: 'BECAUSE', read: (sensor) => sensor.because.map(reasonText) },
      ...SHOWN_COLUMNS,
    ],
  };
}

function engineOf(sensor: SensorSummary): string {
  const state = sensor.states?.engine ?? '-';
  return sensor.engine_kind === null ? state : `${sensor.engine_kind}:${state}`;
}

function osOf({ system }: SensorSummary): string {
  return `${system.os_name} ${system.os_version} ${system.architecture}`;
}
