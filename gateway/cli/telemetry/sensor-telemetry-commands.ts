// `service-console sensors coverage|resources|flows|scores|baselines` and the sections of the inventory: what sensors tell
// beside events.
import type { Command } from 'commander';
import type {
  CoverageHour,
  FleetCoverage,
  SensorCoverage,
} from '../../operator-plane/telemetry/coverage.ts';
import type {
  Flow,
  InventorySection,
  Resources,
  Score,
  StoredBaseline,
} from '../../operator-plane/telemetry/sensor-telemetry.ts';
import type { Client } from '../plumbing/client.ts';
import {
  type CommandIo,
  clientOf,
  groupOf,
  integerOf,
  type SharedOptions,
  tableOptions,
  withOutput,
} from '../plumbing/command-run.ts';
import { findSensor } from '../plumbing/find-by-name.ts';
import { type Column, printList, type View } from '../plumbing/output.ts';

const LIST_MAX = 1_000_000;
const PERCENT = 100;

type SpanOptions = SharedOptions & {
  readonly from?: string;
  readonly to?: string;
  readonly limit: string;
};
type Counted = Pick<FleetCoverage, 'seen' | 'lost' | 'coverage' | 'losses'>;
type Item = Readonly<Record<string, unknown>>;

/** Registers the commands under `sensors`. */
export function addCommands(program: Command, io: CommandIo): void {
  const sensors = groupOf(program, 'sensors');
  addCoverageCommand(sensors, io);

  const addNewest = <T>(about: readonly [string, string, string], view: View<T>): void => {
    const [command, what, description] = about;
    withSpan(sensors.command(command).description(description))
      .argument('<sensor>', 'id or node name')
      .action(async (name: string, options: SpanOptions) => {
        const shown = tableOptions(options);
        const client = clientOf(io, options);
        const { sensor_id: id } = await findSensor(client, name);
        const { items } = await client.get<{ readonly items: readonly T[] }>(
          `/api/v2/sensors/${id}/${what}`,
          { from: options.from, to: options.to, limit: options.limit },
        );
        printList(io.terminal, items, view, shown);
      });
  };
  addNewest(['resources', 'resources', 'use of resources, newest first'], RESOURCES);
  addNewest(['flows', 'flows', 'who talked to whom, newest first'], FLOWS);
  addNewest(['scores', 'anomaly-scores', 'how unusual events were, newest first'], SCORES);

  type After = (client: Client, path: string) => Promise<void>;
  const addPaged = <T>(
    about: readonly [string, string, string],
    view: View<T>,
    after?: After,
  ): void => {
    const [command, what, description] = about;
    withOutput(sensors.command(command).description(description))
      .argument('<sensor>', 'id or node name')
      .action(async (name: string, options: SharedOptions) => {
        const shown = tableOptions(options);
        const client = clientOf(io, options);
        const { sensor_id: id } = await findSensor(client, name);
        const path = `/api/v2/sensors/${id}/${what}`;
        const found: T[] = [];
        for await (const one of client.all<T>(path, {}, LIST_MAX)) found.push(one);
        printList(io.terminal, found, view, shown);
        await after?.(client, path);
      });
  };
  // Beside the list and not in it, so that whoever reads the list by program sees items only.
  const tellShortened: After = async (client, path) => {
    const { total, node_total: all } = await client.get<InventorySection>(path, { limit: 1 });
    if (all !== null)
      io.terminal.talk(`The node has ${all}, too many to tell: these are ${total}.`);
  };
  addPaged(['baselines', 'baselines', 'what is usual for each program'], BASELINES);
  const addSection = (about: readonly [string, string, string], view: View<Item>): void =>
    addPaged(about, view, tellShortened);
  for (const [about, view] of sectionCommands()) addSection(about, view);
}

function addCoverageCommand(sensors: Command, io: CommandIo): void {
  withSpan(sensors.command('coverage').description('what reached the Console, and what was lost'))
    .argument('[sensor]', 'id or node name: by hour; without: the whole fleet')
    .action(async (name: string | undefined, options: SpanOptions) => {
      const shown = tableOptions(options);
      const client = clientOf(io, options);
      const span = { from: options.from, to: options.to };
      if (name !== undefined) {
        const { sensor_id: id } = await findSensor(client, name);
        const path = `/api/v2/sensors/${id}/coverage`;
        const { hours } = await client.get<SensorCoverage>(path, span);
        printList(io.terminal, hours, HOURS, shown);
        return;
      }
      const limit = integerOf(options.limit, '--limit', LIST_MAX);
      const found: FleetCoverage[] = [];
      for await (const one of client.all<FleetCoverage>('/api/v2/coverage', span, limit)) {
        found.push(one);
      }
      printList(io.terminal, found, FLEET, shown);
    });
}

type SectionCommand = readonly [about: readonly [string, string, string], view: View<Item>];

function sectionCommands(): readonly SectionCommand[] {
  return [
    [['connections', 'inventory/connections', 'open connections'], CONNECTIONS],
    [['services', 'inventory/listening_services', 'listening services'], SERVICES],
    [['processes', 'inventory/processes', 'running processes'], PROCESSES],
    [['images', 'inventory/container_images', 'container images'], IMAGES],
    [['kubernetes', 'inventory/kubernetes', 'what the cluster runs here'], KUBERNETES],
    [['packages', 'inventory/packages', 'installed packages'], PACKAGES],
    [['telecom', 'inventory/telecom', 'telecom snapshots'], TELECOM],
  ];
}

function withSpan(command: Command): Command {
  return withOutput(command)
    .option('--from <instant>', 'RFC 3339, or relative: now-1h', 'now-24h')
    .option('--to <instant>', 'RFC 3339, or relative', 'now')
    .option('--limit <number>', 'at most this many', '100');
}

function counts<T extends Counted>(): readonly Column<T>[] {
  return [
    { head: 'SEEN', read: ({ seen }) => String(seen) },
    { head: 'LOST', read: ({ lost }) => String(lost) },
    { head: 'COVERAGE', read: ({ coverage }) => percent(coverage) },
    { head: 'KERNEL', read: ({ losses }) => String(losses.kernel_lost) },
    { head: 'ENGINE', read: ({ losses }) => String(losses.engine_lost) },
    { head: 'READER', read: ({ losses }) => String(losses.reader_skipped) },
    { head: 'PIPELINE', read: ({ losses }) => String(losses.pipeline_dropped) },
    { head: 'SPOOL', read: ({ losses }) => String(losses.spool_discarded) },
    { head: 'REFUSED', read: ({ losses }) => String(losses.console_refused) },
  ];
}

// Never rounded up to the whole: 100 % says that nothing was lost.
function percent(share: number | null): string {
  if (share === null) return '-';
  return `${(Math.floor(share * PERCENT * 1_000) / 1_000).toFixed(share === 1 ? 0 : 3)}%`;
}

const HOURS: View<CoverageHour> = {
  name: ({ hour }) => hour,
  empty: 'Nothing was reported in this time.',
  columns: [{ head: 'HOUR', read: ({ hour }) => hour }, ...counts<CoverageHour>()],
};
const FLEET: View<FleetCoverage> = {
  name: (one) => one.sensor_id,
  empty: 'No sensor reported anything in this time.',
  columns: [{ head: 'ID', read: (one) => one.sensor_id }, ...counts<FleetCoverage>()],
};
const RESOURCES: View<Resources> = {
  name: ({ at }) => at,
  empty: 'No samples in this time.',
  columns: [
    { head: 'AT', read: ({ at }) => at },
    { head: 'CPU%', read: (one) => String(one.cpu_percent) },
    { head: 'MEMORY', read: (one) => String(one.memory_bytes) },
    { head: 'NODE-CPU%', read: ({ node }) => String(node?.cpu_percent ?? '-') },
    { head: 'NODE-MEMORY-USED', read: ({ node }) => usedMemory(node) },
    { head: 'LOAD', read: (one) => String(one.load_1m ?? '-') },
    { head: 'DISK-FREE', read: (one) => String(one.disk_free_bytes ?? '-') },
    { head: 'READ', read: ({ pipeline }) => String(pipeline.read) },
    { head: 'SPOOLED', read: ({ pipeline }) => String(pipeline.spooled) },
    { head: 'HELD', read: ({ pipeline }) => String(pipeline.spool_depth) },
  ],
};
function usedMemory(node: Resources['node']): string {
  return node === null ? '-' : String(node.memory_total_bytes - node.memory_available_bytes);
}
const FLOWS: View<Flow> = {
  name: (one) => one.remote_ip,
  empty: 'No flows in this time.',
  columns: [
    { head: 'SEEN', read: (one) => one.last_seen_at },
    { head: 'DIRECTION', read: (one) => one.direction },
    { head: 'PROTOCOL', read: (one) => one.protocol },
    { head: 'REMOTE', read: (one) => one.domain || one.remote_ip },
    { head: 'PORT', read: (one) => String(one.port) },
    { head: 'CONNECTIONS', read: (one) => String(one.connections) },
    { head: 'PROGRAM', read: (one) => one.binary || '-' },
    { head: 'CONTAINER', wide: true, read: (one) => one.container_id || '-' },
  ],
};
const SCORES: View<Score> = {
  name: (one) => one.event_id,
  empty: 'No scores in this time.',
  columns: [
    { head: 'AT', read: ({ at }) => at },
    { head: 'SCORE', read: ({ score }) => score.toFixed(3) },
    { head: 'KIND', read: (one) => one.event_kind },
    { head: 'PROGRAM', read: (one) => one.binary || '-' },
    { head: 'EVENT', wide: true, read: (one) => one.event_id },
  ],
};
const BASELINES: View<StoredBaseline> = {
  name: ({ binary }) => binary,
  empty: 'Nothing is known to be usual yet.',
  columns: [
    { head: 'PROGRAM', read: ({ binary }) => binary },
    { head: 'RUNS', read: ({ executions }) => executions.toFixed(1) },
    { head: 'WARM', read: (one) => (one.is_warm ? 'yes' : 'no') },
    { head: 'CHILDREN', read: ({ children }) => String(children.length) },
    { head: 'FILES', read: ({ files }) => String(files.length) },
    { head: 'DESTINATIONS', read: ({ destinations }) => String(destinations.length) },
    { head: 'SINCE', read: (one) => one.learned_since },
  ],
};
const HOLDER = ['pid', 'binary', 'network_namespace'];
const CONNECTIONS: View<Item> = {
  name: (one) => String(one['remote_ip']),
  empty: 'No open connections.',
  columns: [
    ...['protocol', 'local_ip', 'local_port', 'remote_ip', 'remote_port', 'state'],
    ...HOLDER,
  ].map(field),
};
const SERVICES: View<Item> = {
  name: (one) => String(one['port']),
  empty: 'Nothing listens.',
  columns: ['protocol', 'ip', 'port', ...HOLDER].map(field),
};

const PROCESSES: View<Item> = {
  name: (one) => String(one['pid']),
  empty: 'Nothing runs.',
  columns: ['pid', 'command'].map(field),
};

const IMAGES: View<Item> = {
  name: (one) => String(one['id']),
  empty: 'No container images.',
  columns: ['runtime', 'namespace', 'names', 'id', 'size_bytes'].map(field),
};

const KUBERNETES: View<Item> = {
  name: (one) => String(one['name']),
  empty: 'The cluster runs nothing here.',
  columns: ['kind', 'namespace', 'name', 'workload_type', 'workload_name', 'images'].map(field),
};

const PACKAGES: View<Item> = {
  name: (one) => String(one['name']),
  empty: 'No packages.',
  columns: ['name', 'version', 'architecture'].map(field),
};

const TELECOM: View<Item> = {
  name: (one) => String(one['name']),
  empty: 'No telecom snapshots.',
  columns: [{ head: 'SNAPSHOT', read: (one) => JSON.stringify(one) }],
};

function field(name: string): Column<Item> {
  return {
    head: name.toUpperCase().replaceAll('_', '-'),
    read: (one) => valuesOf(one[name]),
  };
}

function valuesOf(value: unknown): string | readonly string[] {
  return Array.isArray(value) ? value.map(String) : String(value ?? '-');
}
