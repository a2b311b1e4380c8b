// The sockets of a simulated node: connections that come and go, and services that listen, as /proc/net would show them at
// each look. The order of a look means nothing, and one socket may be listed twice, as with a shared port.
import type { Connection, Service, Sockets } from '../../../sensor/telemetry/sockets.ts';
import type { Random } from './random.ts';

export type NodeSockets = {
  /** What a look shows; some time has passed since the last one. */
  look(): Sockets;
  /** What the last look showed. */
  shown(): Sockets;
  /** Nothing comes and goes from now on. */
  settle(): void;
};

const CHANGE_CHANCE = 0.3;
const CONNECTIONS = 12;
const SERVICES = 3;

/** Makes a node's sockets; one that is not lively has none. */
export function createNodeSockets(random: Random, isLively: boolean): NodeSockets {
  const open = new Set<number>();
  const served = new Set<number>();
  let changes = isLively;
  let last: Sockets = { connections: [], listening_services: [] };

  function toggle(among: Set<number>, most: number): void {
    const one = random.between(0, most - 1);
    if (!among.delete(one)) among.add(one);
  }

  return {
    look() {
      if (changes && random.chance(CHANGE_CHANCE)) {
        toggle(open, CONNECTIONS);
        if (random.chance(CHANGE_CHANCE)) toggle(served, SERVICES);
        last = {
          connections: [...open].map(connectionOf),
          listening_services: [...served, ...served].map(serviceOf),
        };
      }
      return last;
    },
    shown: () => last,
    settle() {
      changes = false;
    },
  };
}

function connectionOf(n: number): Connection {
  return {
    ...{ protocol: 'tcp', local_ip: '10.0.0.1', local_port: 40_000 + n, remote_ip: '10.9.0.1' },
    ...{ remote_port: 443, state: 'established', pid: 1_000 + n, binary: `/opt/app/bin/p${n}` },
  };
}

/** The first is a container's. */
function serviceOf(n: number): Service {
  const within = n === 0 ? { network_namespace: '4026532001' } : {};
  return { protocol: 'tcp', ip: '0.0.0.0', port: 8_000 + n, ...within };
}
