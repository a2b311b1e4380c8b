// Telemetry: the node's load, its sockets and its processes. decision: D49
import type { InventorySectionName } from '../../../machines/wire/inventory.ts';
import { membersText } from '../../actors/heartbeat-body.ts';
import type { SensorCapability } from '../../capability.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { HeldSection } from '../inventory/inventory-group.ts';
import { processSection, socketSections } from './section.ts';
import { createSocketReport } from './socket-report.ts';

export const telemetry: SensorCapability<null> = {
  name: 'telemetry',
  open({ ports }) {
    const measured = ports.telemetry;
    return {
      service: null,
      forward() {
        const report = createSocketReport();
        return {
          async heartbeat() {
            const [resources, sockets] = await Promise.all([
              measured.resources(),
              measured.sockets(),
            ]);
            return {
              text: [report.next(sockets), membersText({ resources })].join(','),
              heard(answer) {
                if (answer !== null) report.confirm(answer.stored_sections);
              },
            };
          },
        };
      },
      inventory: [{ isSnapshot: true, read: () => readSections(measured) }],
    };
  },
};

/** The sections of a node as it is now. */
export async function readSections(
  measured: Pick<Telemetry, 'sockets' | 'processes'>,
): Promise<ReadonlyMap<InventorySectionName, HeldSection>> {
  const [sockets, processes] = await Promise.all([measured.sockets(), measured.processes()]);
  const { connections, listening_services } = socketSections(sockets);
  return new Map<InventorySectionName, HeldSection>([
    ['processes', processSection(processes)],
    ['connections', connections],
    ['listening_services', listening_services],
  ]);
}
