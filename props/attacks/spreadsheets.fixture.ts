// An event that says the same in every text it has.
import type { StoredEvent } from '../../machines/wire/event.ts';

/** Makes one. */
export function storedEvent(text: string): StoredEvent {
  return {
    ...{ event_id: text, schema_version: 1, sensor_id: text, node_name: text },
    ...{ observed_at: text, received_at: text, event_kind: 'process_exec', severity: 'info' },
    message: text,
    process: { exec_id: text, pid: 1, uid: 0, binary: text, arguments: text },
    parent: { exec_id: text, pid: 1, binary: text },
    workload: { container_id: text, k8s_namespace: text, pod_name: text },
    network: {
      ...{ protocol: text, direction: 'outbound', source_ip: text, source_port: 1 },
      ...{ destination_ip: text, destination_port: 2, domain: text },
    },
    file: { path: text },
    policy: { name: text, action: 'observed' },
    mitre: { technique: text, tactic: text },
  } as StoredEvent;
}
