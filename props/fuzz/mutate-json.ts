// Changes of a JSON document's nodes, so that most inputs pass the first look and reach what comes behind it. What
// JSON.stringify would never write (a member twice, `__proto__`, escapes, numbers out of range) is put in as text.
import type { Random } from './random.ts';

type Node = unknown;
const TEXTS = [
  '',
  '\0',
  '\ud800',
  '\u{1f600}',
  'é',
  '2026-02-30T24:61:61Z',
  '9999-12-31T23:59:59.999999999Z',
  '0000-00-00T00:00:00Z',
  '__proto__',
  'constructor',
  '../..',
  '-1',
  '1e309',
  '\n',
];
const LENGTHS = [1, 31, 32, 33, 63, 64, 65, 128, 129, 255, 256, 257, 1_024, 1_025, 4_096, 4_097];
const NUMBERS = [
  0,
  -0,
  -1,
  0.5,
  1,
  1.5,
  255,
  65_535,
  65_536,
  2 ** 31,
  2 ** 32,
  Number.MAX_SAFE_INTEGER,
  Number.MAX_SAFE_INTEGER + 1,
  1e300,
  -1e300,
];
const RAW = [
  '"__proto__":{"polluted":1},',
  '"constructor":{"prototype":{"polluted":1}},',
  '"toString":null,',
  '"length":4294967295,',
];

/** Changes one to four nodes; null when the text is no JSON. */
export function mutateJson(text: string, random: Random, other: Node = null): string | null {
  let value: Node;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const changes = random.once(3) ? 1 + random.below(4) : 1;
  for (let at = 0; at < changes; at += 1) value = changeOne(value, random, other);
  const written = JSON.stringify(value) ?? 'null';
  return random.once(12) ? putRaw(written, random) : written;
}

type Place = { readonly holder: Record<string, Node> | Node[]; readonly key: string };

function placesOf(value: Node): Place[] {
  const places: Place[] = [];
  const waiting: Node[] = [value];
  for (const one of waiting) {
    if (typeof one !== 'object' || one === null || places.length > 2_000) continue;
    for (const key of Object.keys(one)) {
      places.push({ holder: one as Place['holder'], key });
      waiting.push((one as Record<string, Node>)[key]);
    }
  }
  return places;
}

function changeOne(value: Node, random: Random, other: Node): Node {
  const places = placesOf(value);
  if (places.length === 0 || random.once(50)) return anotherNode(value, random);
  const { holder, key } = random.pick(places);
  const slots = holder as Record<string, Node>;
  const node = slots[key];
  switch (random.below(7)) {
    case 0:
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete slots[key];
      break;
    case 1: {
      const times = random.once(6) ? 1 + random.below(80) : 1;
      const copies = Array.from({ length: times }, () => structuredClone(node));
      if (Array.isArray(holder)) holder.splice(Number(key), 0, ...copies);
      else for (const [at, copy] of copies.entries()) define(slots, `${key}${at}`, copy);
      break;
    }
    case 2: {
      const from = random.pick(places);
      define(slots, key, structuredClone((from.holder as Record<string, Node>)[from.key]));
      break;
    }
    case 3: {
      const found = placesOf(other);
      const from = found.length === 0 ? undefined : random.pick(found);
      if (from === undefined) break;
      const name = Array.isArray(holder) || random.once(2) ? key : from.key;
      define(slots, name, structuredClone((from.holder as Record<string, Node>)[from.key]));
      break;
    }
    default:
      define(slots, key, anotherNode(node, random));
  }
  return value;
}

// An assignment to `__proto__` would change the tree's own prototype.
function define(slots: Record<string, Node>, key: string, value: Node): void {
  Object.defineProperty(slots, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

function anotherNode(node: Node, random: Random): Node {
  if (typeof node === 'string' && !random.once(4)) return anotherText(node, random);
  if (typeof node === 'number' && !random.once(4)) {
    return random.once(3) ? node + random.pick([-1, 1, 0.5]) : random.pick(NUMBERS);
  }
  switch (random.below(7)) {
    case 0:
      return random.pick(TEXTS);
    case 1:
      return random.pick(NUMBERS);
    case 2:
      return random.pick([true, false, null]);
    case 3:
      return [];
    case 4:
      return {};
    case 5:
      return nest(node, random);
    default:
      return Array.isArray(node) ? { ...node } : [node];
  }
}

function nest(node: Node, random: Random): Node {
  let nested = node;
  const levels = random.pick([1, 2, 28, 30, 31, 32, 33, 40]);
  for (let at = 0; at < levels; at += 1) nested = random.once(2) ? [nested] : { a: nested };
  return nested;
}

function anotherText(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  switch (random.below(6)) {
    case 0:
      return random.pick(TEXTS);
    case 1:
      return (text === '' ? 'a' : text).repeat(5_000).slice(0, random.pick(LENGTHS));
    case 2:
      return text.slice(0, at) + text.slice(at + 1);
    case 3:
      return text.slice(0, at) + random.pick(TEXTS) + text.slice(at);
    case 4:
      return random.once(2) ? text.toUpperCase() : text.toLowerCase();
    default:
      return text.slice(0, at) + String.fromCharCode(random.below(0x3000)) + text.slice(at + 1);
  }
}

function putRaw(text: string, random: Random): string {
  const braces = [...text.matchAll(/\{(?=")/g)].map((found) => found.index + 1);
  if (braces.length === 0) return text;
  const at = random.pick(braces);
  return text.slice(0, at) + random.pick(RAW) + text.slice(at);
}
