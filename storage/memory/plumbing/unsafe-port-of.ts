// A port made of plain calls that run to their end at once, which is what a transaction promises; how a call is made
// (a switch, a simulated way to the database) is handed in.

/** The same calls without the promises. */
export type Calls<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...args: infer Args) => Promise<infer Answer>
    ? (...args: Args) => Answer
    : never;
};
export type Ask = <Answer>(name: string, effect: () => Answer) => Promise<Answer>;

/** Makes the port; `prefix` names it in the names of its calls. */
export function portOf<Port extends object>(prefix: string, calls: Calls<Port>, ask: Ask): Port {
  const port: Record<string, unknown> = {};
  for (const [name, call] of Object.entries(calls)) {
    const run = call as (...args: readonly unknown[]) => unknown;
    const full = `${prefix}.${name}`;
    port[name] = (...args: readonly unknown[]) => ask(full, () => run(...args));
  }
  return port as Port;
}
