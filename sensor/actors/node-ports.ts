// Everything through which a running Sensor touches the world outside its own memory. `main.ts` joins the real ones; a
// simulated fleet joins others and runs the same actors. Each port is described beside its real implementation.
import type { PacketFilter } from '../capabilities/containment/packet-filter.ts';
import type { EngineLauncher } from '../engine/engine-launcher.ts';
import type { ExportFiles } from '../engine/export-files.ts';
import type { NodeContext } from '../pipeline/node-context.ts';
import type { Files } from '../state-directory/file-port.ts';
import type { KeyWork } from '../state-directory/key-work.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Cluster } from '../telemetry/workloads.ts';
import type { Transport } from '../transport/transport.ts';

export type NodePorts = {
  readonly files: Files;
  readonly transport: Transport;
  readonly keyWork: KeyWork;
  readonly engine: EngineLauncher;
  readonly exportFiles: ExportFiles;
  readonly telemetry: Telemetry;
  readonly context: NodeContext;
  readonly cluster: Cluster;
  readonly packetFilter: PacketFilter;
};
