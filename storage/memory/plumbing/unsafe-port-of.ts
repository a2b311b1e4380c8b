// A port made of plain calls that run to their end at once, which is what a transaction promises; how a call is made
// (a switch, a simulated way to the database) is handed in.

/** The same calls without the promises. */
export type Calls<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...args: infer Args) => Promise<infer Answer>
    ? (...args: Args) => Answer
    : Calls<Port[Name]>;
};
/** The calls of several stores, by the name of their port. */
export type StoreCalls<Stores> = { readonly [Name in keyof Stores]: Calls<Stores[Name]> };
export type Ask = <Answer>(name: string, effect: () => Answer) => Promise<Answer>;

/** Makes the port; `prefix` names it in the names of its calls. */
export function portOf<Port extends object>(prefix: string, calls: Calls<Port>, ask: Ask): Port {
  const port: Record<string, unknown> = {};
  for (const [name, call] of Object.entries(calls)) {
    const full = `${prefix}.${name}`;
    if (typeof call === 'object') {
      port[name] = portOf(full, call as Calls<object>, ask);
      continue;
    }
    const run = call as (...args: readonly unknown[]) => unknown;
    port[name] = (...args: readonly unknown[]) => ask(full, () => run(...args));
  }
  return port as Port;
}

/** Makes the ports of several stores, each named by its own name. */
export function portsOf<Stores extends object>(calls: StoreCalls<Stores>, ask: Ask): Stores {
  const ports: Record<string, unknown> = {};
  for (const [name, own] of Object.entries(calls)) {
    const prefix = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    ports[name] = portOf(prefix, own as Calls<object>, ask);
  }
  return ports as Stores;
}
