// Judges where a connection leads, at the moment of connecting: literal addresses, and every address that a name resolves to.
// The address that was judged is the one that is connected to, so a name that changes its answer gains nothing.
// decision: D40, D159
import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { type AddressPolicy, mistakeOfAddress } from './address-rules.ts';

export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/** Why a host that is an address may not be reached; null for a name, which is judged once it is resolved. */
export function mistakeOfHost(hostname: string, policy: AddressPolicy): string | null {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) > 0 ? mistakeOfAddress(host, policy) : null;
}

/** Resolves a name and refuses it when any of its addresses may not be reached. */
export function judgedLookup(
  policy: AddressPolicy,
  resolve: typeof lookup = lookup,
): LookupFunction {
  return (host, options, done) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, '', 0);
      for (const { address } of addresses) {
        const mistake = mistakeOfAddress(address, policy);
        if (mistake !== null) return done(new AddressRefused(mistake), '', 0);
      }
      const [first] = addresses;
      if (options.all === true) return done(null, addresses);
      return first === undefined
        ? done(new Error(`${host} has no address`), '', 0)
        : done(null, first.address, first.family);
    });
  };
}
