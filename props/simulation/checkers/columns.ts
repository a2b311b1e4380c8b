// Compact memory for checkers that follow every event of a month: numbers by index, and flags by the engine's keys.
// A key is `<node>:<n>`, so a flag costs four bytes and no string is kept.

export type Column = {
  /** 0 where nothing was set. */
  get(index: number): number;
  set(index: number, value: number): void;
};

/** A growing column of unsigned 32-bit numbers. */
export function createColumn(): Column {
  let values = new Uint32Array(64);
  return {
    get: (index) => values[index] ?? 0,
    set(index, value) {
      if (index >= values.length) {
        const grown = new Uint32Array(Math.max(index + 1, values.length * 2));
        grown.set(values);
        values = grown;
      }
      values[index] = value;
    },
  };
}

export type KeyColumn = {
  get(key: string): number;
  set(key: string, value: number): void;
  /** Every key of a node that was set, in the order of its numbers. */
  keysOf(node: string): Generator<readonly [key: string, value: number]>;
  nodes(): Iterable<string>;
};

/** Numbers by key, one column a node. */
export function createKeyColumn(): KeyColumn {
  const columns = new Map<string, { readonly values: Column; length: number }>();
  return {
    get(key) {
      const at = key.lastIndexOf(':');
      return columns.get(key.slice(0, at))?.values.get(Number(key.slice(at + 1))) ?? 0;
    },
    set(key, value) {
      const at = key.lastIndexOf(':');
      const node = key.slice(0, at);
      const index = Number(key.slice(at + 1));
      let own = columns.get(node);
      if (own === undefined) {
        own = { values: createColumn(), length: 0 };
        columns.set(node, own);
      }
      own.values.set(index, value);
      own.length = Math.max(own.length, index + 1);
    },
    *keysOf(node) {
      const own = columns.get(node);
      for (let index = 0; index < (own?.length ?? 0); index += 1) {
        const value = own?.values.get(index) ?? 0;
        if (value !== 0) yield [`${node}:${index}`, value];
      }
    },
    nodes: () => columns.keys(),
  };
}

/** The node that wrote a key; '' for what no simulated engine wrote. */
export function nodeOfKey(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf(':')));
}

/** A number that stands for a list of texts; never 0. */
export function digestOf(texts: readonly string[]): number {
  let hash = 0x811c9dc5;
  for (const text of texts) {
    for (let at = 0; at < text.length; at += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    }
    hash = Math.imul(hash ^ 0x0a, 0x01000193);
  }
  return hash >>> 0 || 1;
}

/** What of a map belongs to a name, made when it is asked for first. */
export function ensure<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
