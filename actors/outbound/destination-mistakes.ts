// What can be told of a destination before anything is sent to it, the same for everything that leaves the Console. A name
// is judged when it is resolved; a literal address and a proxy are judged when they are stored. decision: D40, D150
import { policyOfList } from './address-rules.ts';
import { hostOf } from './guarded-connect.ts';
import { mistakeOfHost } from './judged-lookup.ts';

/** What is wrong with a host that is an address; null for names and for what may be reached. */
export function mistakeOfTarget(host: string, allowList: readonly string[]): string | null {
  return mistakeOfHost(host, policyOfList(allowList, host));
}

/** What is wrong with the address of a proxy; null when it can be used. */
export function mistakeOfProxy(text: string, allowList: readonly string[]): string | null {
  if (!URL.canParse(text)) return 'is no address';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must be http:// or https://';
  if (url.username !== '' || url.password !== '') return 'must hold no name and no password';
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    return 'must hold a host and a port alone';
  }
  return mistakeOfTarget(hostOf(url), allowList);
}
