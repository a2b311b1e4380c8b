// The network namespaces of the node besides the Sensor's own: each with a process that lives in it, through which its
// sockets are read. A look has a bound and goes on where the last one ended; a namespace whose process ended is looked
// for again from the beginning. invariant: I10
import { readlinkSync } from 'node:fs';
import {
  NETWORK_NAMESPACE_LOOKS_MAX,
  NETWORK_NAMESPACES_MAX,
} from '../../machines/pipeline-limits.ts';
import { orNothing, pidsOf } from './proc-entries.ts';

export type NetworkNamespace = { readonly id: string; readonly pid: number };
const NAMESPACE = /^net:\[(\d+)\]$/;

/** A look at the namespaces there are now; without rights over a process its namespace is not seen. Never throws. */
export function createNetworkNamespaces(
  proc = '/proc',
  looksMax: number = NETWORK_NAMESPACE_LOOKS_MAX,
): () => readonly NetworkNamespace[] {
  const witnesses = new Map<string, number>();
  /** Processes that this round has not looked at yet, the youngest last. */
  let round: number[] = [];

  const namespaceOf = (pid: number | 'self'): string | undefined =>
    NAMESPACE.exec(orNothing(() => readlinkSync(`${proc}/${pid}/ns/net`)) ?? '')?.[1];

  return () => {
    const own = namespaceOf('self');
    for (const [id, pid] of witnesses) {
      if (namespaceOf(pid) === id) continue;
      witnesses.delete(id);
      round = [];
    }
    if (round.length === 0) round = pidsOf(proc);
    for (const pid of round.splice(-looksMax)) {
      if (witnesses.size >= NETWORK_NAMESPACES_MAX) break;
      const id = namespaceOf(pid);
      if (id !== undefined && id !== own && !witnesses.has(id)) witnesses.set(id, pid);
    }
    return [...witnesses].map(([id, pid]) => ({ id, pid }));
  };
}
