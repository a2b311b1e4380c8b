// YAML read into a tree whose every node knows where it stands, so that a refusal can name the field, line and column.
// Both programs read with it. Bounded before and while it is read: size, depth, no aliases, no anchors, no tags, one document, no name twice.
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
} from 'yaml';
import {
  POLICY_FILE_MAX_BYTES,
  POLICY_REFUSALS_MAX,
  POLICY_YAML_DEPTH_MAX,
} from '../../machines/policy/limits.ts';
import type { Located, LocatedResult, Place } from '../../machines/policy/located.ts';

const START: Place = { path: '', line: 1, column: 1 };

class Unreadable extends Error {
  readonly place: Place;
  constructor(place: Place, reason: string) {
    super(reason);
    this.place = place;
  }
}

/** Reads one document. Never throws. */
export function readLocated(text: string): LocatedResult {
  if (Buffer.byteLength(text) > POLICY_FILE_MAX_BYTES) {
    return refusal(START, `a policy has at most ${POLICY_FILE_MAX_BYTES} bytes`);
  }
  if (depthOf(text) > 2 * POLICY_YAML_DEPTH_MAX) return refusal(START, TOO_DEEP);
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, {
      lineCounter: lines,
      schema: 'core',
      version: '1.2',
      uniqueKeys: true,
      logLevel: 'error',
      prettyErrors: false,
    });
    const broken = [...document.errors, ...document.warnings];
    if (broken.length > 0) {
      const refusals = broken.slice(0, POLICY_REFUSALS_MAX).map((error) => {
        const { line, col } = lines.linePos(error.pos[0]);
        const reason = error.message.slice(0, 200);
        return { path: '', line, column: col, reason, code: 'invalid' as const };
      });
      return { ok: false, refusals };
    }
    return { ok: true, root: locate(document, lines) };
  } catch (error) {
    if (error instanceof Unreadable) return refusal(error.place, error.message);
    // The reader recurses; what is nested so deeply that it cannot is refused like any other depth.
    return refusal(START, error instanceof RangeError ? TOO_DEEP : 'the YAML cannot be read');
  }
}

const TOO_DEEP = `it is nested deeper than ${POLICY_YAML_DEPTH_MAX} levels`;

function refusal(place: Place, reason: string): LocatedResult {
  return { ok: false, refusals: [{ ...place, reason, code: 'invalid' }] };
}

// Brackets that nest cost the reader far more than their bytes; they are counted first, roughly and cheaply.
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const sign of text) {
    if (sign === '[' || sign === '{') depth += 1;
    else if ((sign === ']' || sign === '}') && depth > 0) depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function locate(document: Document, lines: LineCounter): Located {
  const placeOf = (node: Node | null, path: string): Place => {
    const { line, col } = lines.linePos(node?.range?.[0] ?? 0);
    return { path, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const walk = (node: unknown, path: string, depth: number): Located => {
    if (isAlias(node)) throw new Unreadable(placeOf(node, path), 'aliases are not taken');
    if (!isScalar(node) && !isMap(node) && !isSeq(node)) {
      return { ...placeOf(null, path), kind: 'scalar', value: null, source: '' };
    }
    const place = placeOf(node, path);
    if (node.anchor !== undefined) throw new Unreadable(place, 'anchors are not taken');
    if (node.tag !== undefined) throw new Unreadable(place, 'tags are not taken');
    if (depth > POLICY_YAML_DEPTH_MAX) throw new Unreadable(place, TOO_DEEP);
    if (isScalar(node)) {
      return { ...place, kind: 'scalar', value: node.value, source: node.source ?? '' };
    }
    if (isSeq(node)) {
      const items = node.items.map((item, index) => walk(item, `${path}[${index}]`, depth + 1));
      return { ...place, kind: 'list', items };
    }
    const entries = new Map<string, Located>();
    for (const { key, value } of node.items) {
      if (!isScalar(key) || typeof key.value !== 'string' || key.anchor !== undefined) {
        throw new Unreadable(place, 'names are plain text');
      }
      const name = path === '' ? key.value : `${path}.${key.value}`;
      // A name stands for its value: what is absent or empty is shown where its name is.
      const own = walk(value, name.slice(0, 256), depth + 1);
      entries.set(key.value, { ...own, ...placeOf(key, own.path) });
    }
    return { ...place, kind: 'map', entries };
  };
  return walk(document.contents, '', 0);
}
