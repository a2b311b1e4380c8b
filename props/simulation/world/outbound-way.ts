// The way of a simulated Console to whoever is outside, in steps that a planted bug can stand in: what a name means, whether
// its address may be connected to, and one request over that connection.
import { type AddressPolicy, policyOfList } from '../../../actors/outbound/address-rules.ts';
import { hostOf } from '../../../actors/outbound/guarded-connect.ts';
import type {
  OutboundAnswer,
  OutboundPost,
  OutboundRequest,
} from '../../../actors/outbound/outbound-post.ts';

export type Place = { readonly host: string; readonly address: string };

/** Its steps. */
export type OutboundWay = {
  /** What a name means now, judged by nobody. */
  lookup(host: string): string;
  /** The address that may be connected to. Rejects with DestinationUnreachable. */
  resolve(host: string, policy: AddressPolicy): Promise<string>;
  exchange(
    to: Place,
    request: OutboundRequest,
  ): Promise<OutboundAnswer & { readonly location: string | null }>;
};
/** The port as the product has it: judged when it connects, one request, no redirect followed. */
export function postOver(way: OutboundWay): OutboundPost {
  return async (request) => {
    const host = hostOf(new URL(request.url));
    const address = await way.resolve(host, policyOfList(request.allowList, host));
    const { status, retryAfter, excerpt } = await way.exchange({ host, address }, request);
    return { status, retryAfter, excerpt };
  };
}
