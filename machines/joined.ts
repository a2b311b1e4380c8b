// What capabilities declare under names of their own, joined into one record that keeps every name and the type of each.
// A name that is declared twice is refused when the module loads. decision: D174

type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;
/** Every record of a list, as one. */
export type Joined<List> = Intersection<List[keyof List]>;

/** Joins the records of a list: a module of re-exports, taken as a whole. */
export function joined<List extends Readonly<Record<string, object>>>(list: List): Joined<List> {
  const entries = Object.values(list).flatMap((one) => Object.entries(one));
  const names = entries.map(([name]) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`${twice} is declared twice`);
  return Object.fromEntries(entries) as Joined<List>;
}
