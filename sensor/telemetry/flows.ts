// Who talked to whom: connections of one program to or from one place, counted from the events that pass by. A flow goes
// out with every heartbeat until one that held it is confirmed; what was not seen since is forgotten then, and what was
// goes on under its beginning, so that the Console puts it in the place of the earlier report. A report tells what fits its
// bytes, the one seen longest ago first; the rest waits for the next one. When too many are held, the one seen longest ago
// makes way. decision: D48; invariant: I10
import { LRUCache } from 'lru-cache';
import { HEARTBEAT_BODY_MAX_BYTES, REPORTED_FLOWS_MAX } from '../../machines/limits.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import type { HeartbeatRequest } from '../../machines/wire/heartbeat.ts';
import { fittingCount } from './shortened.ts';

/** Of a body of which events take half and sockets a quarter. */
const FLOWS_MAX_BYTES = HEARTBEAT_BODY_MAX_BYTES / 16;
type Flow = HeartbeatRequest['flows'][number];
type Held = { readonly flow: Flow; readonly version: number };
/** Narrower than the wire allows, so that long names leave room for other flows. */
const BOUNDS = { protocol: 8, remote_ip: 64, domain: 256, binary: 256, container_id: 128 } as const;

export type FlowTable = {
  /** Takes an event that is in the spool; only those of connections count. */
  note(event: RuntimeEvent, nowMs: number): void;
  /** What is to be told now, as far as it fits. `confirm` says that the Console has it. */
  report(): { readonly flows: Flow[]; confirm(): void };
};

/** An empty table. */
export function createFlowTable(
  flowsMax: number = REPORTED_FLOWS_MAX,
  bytesMax: number = FLOWS_MAX_BYTES,
): FlowTable {
  const held = new LRUCache<string, Held>({ max: flowsMax });
  let version = 0;

  return {
    note(event, nowMs) {
      const place = placeOf(event);
      if (place === null) return;
      const key = JSON.stringify(place);
      const old = held.peek(key);
      const at = new Date(nowMs).toISOString();
      version += 1;
      const flow = {
        ...place,
        connections: (old?.flow.connections ?? 0) + Math.max(1, event.occurrences ?? 1),
        first_seen_at: old?.flow.first_seen_at ?? at,
        last_seen_at: at,
      };
      held.set(key, { flow, version });
    },
    report() {
      const all = [...held.rkeys()].flatMap((key) => {
        const one = held.peek(key);
        return one === undefined ? [] : [{ key, ...one }];
      });
      const texts = all.map(({ flow }) => JSON.stringify(flow));
      const told = all.slice(0, fittingCount(texts, bytesMax));
      return {
        flows: told.map(({ flow }) => flow),
        confirm() {
          for (const one of told) {
            if (held.peek(one.key)?.version === one.version) held.delete(one.key);
          }
        },
      };
    },
  };
}

type Place = Omit<Flow, 'connections' | 'first_seen_at' | 'last_seen_at'>;

function placeOf({ event_kind: kind, network, process, workload }: RuntimeEvent): Place | null {
  if (network === undefined) return null;
  if (kind !== 'network_connect' && kind !== 'network_accept') return null;
  const direction = kind === 'network_accept' ? 'inbound' : 'outbound';
  const remote = direction === 'inbound' ? network.source_ip : network.destination_ip;
  if (remote === undefined) return null;
  const { domain } = network;
  const container = workload?.container_id;
  return {
    protocol: (network.protocol ?? '').slice(0, BOUNDS.protocol),
    direction,
    remote_ip: remote.slice(0, BOUNDS.remote_ip),
    ...(network.destination_port === undefined ? {} : { port: network.destination_port }),
    ...(domain === undefined ? {} : { domain: domain.slice(0, BOUNDS.domain) }),
    ...(process === undefined ? {} : { binary: process.binary.slice(0, BOUNDS.binary) }),
    ...(container === undefined ? {} : { container_id: container.slice(0, BOUNDS.container_id) }),
  };
}
