// Everything that a Console hands to its stores, to whatever port and in whatever shape, as texts: what was never handed
// over stands in no row. invariant: I11
import type { Stores } from './stores.fixture.ts';

/** The same stores, and all they were handed since. Bytes are there as they are, and in hex. */
export function recordStores(stores: Stores) {
  const texts = new Set<string>();
  return { stores: { ...stores, relational: heardBy(stores.relational, texts) }, texts };
}

function heardBy<Port extends object>(port: Port, texts: Set<string>): Port {
  const wrapped = Object.entries(port).map(([name, own]) => {
    // What the stores of memory hold is for tests, and no port.
    if (name === 'state' || typeof own !== 'object' || own === null) {
      return [name, typeof own === 'function' ? heard(own, texts) : own];
    }
    return [name, heardBy(own, texts)];
  });
  return Object.fromEntries(wrapped);
}

function heard(call: (...args: readonly unknown[]) => unknown, texts: Set<string>) {
  return (...args: readonly unknown[]) => {
    keep(args, texts, new Set());
    return call(...args);
  };
}

function keep(value: unknown, texts: Set<string>, seen: Set<unknown>): void {
  if (typeof value === 'string') texts.add(value);
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  if (value instanceof Uint8Array) {
    const bytes = Buffer.from(value);
    texts.add(bytes.toString('latin1')).add(bytes.toString('hex'));
  } else if (value instanceof Map || value instanceof Set) keep([...value], texts, seen);
  else {
    for (const [name, own] of Object.entries(value)) {
      texts.add(name);
      keep(own, texts, seen);
    }
  }
}

/** A secret as it may stand somewhere in the clear. */
export function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    secret.replaceAll('-', ''),
    bytes.toString('hex'),
    bytes.toString('base64').replace(/=+$/, ''),
  ];
}
