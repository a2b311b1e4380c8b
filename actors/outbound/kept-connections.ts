// Connections to receivers that are kept for a moment after an answer, so that many deliveries to one receiver pay for one
// handshake. Each was judged when it was made and leads where it led then; Node keeps them apart by host, port and CA, and
// once the admins' list is another one, none that was judged by the old list is used. decision: D159
import { Agent } from 'node:https';
import { DELIVERIES_RUNNING_MAX, OUTBOUND_KEPT_MS } from '../../machines/limits.ts';

export type KeptConnections = (allowList: readonly string[]) => Agent;

/** Makes the memory of one Console. */
export function createKeptConnections(): KeptConnections {
  let judgedBy: string | null = null;
  let agent = newAgent();
  return (allowList) => {
    const list = JSON.stringify(allowList);
    // Those of the old list end by themselves.
    if (judgedBy !== list) agent = newAgent();
    judgedBy = list;
    return agent;
  };
}

function newAgent(): Agent {
  return new Agent({
    ...{ keepAlive: true, timeout: OUTBOUND_KEPT_MS },
    maxFreeSockets: DELIVERIES_RUNNING_MAX,
  });
}
