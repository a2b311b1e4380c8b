// What a condition needs at least, found without judging an event: the kinds of events that can satisfy it, and a text that
// a pattern cannot do without. A rule that looks at one kind costs nothing for the others. decision: D131
import { EVENT_KINDS, type EventKind } from '../wire/event.ts';
import type { Condition } from './condition.ts';

/** The kinds of events that can satisfy a condition; null: every kind. */
export function kindsOf(condition: Condition): ReadonlySet<EventKind> | null {
  switch (condition.is) {
    case 'among':
      if (condition.field !== 'event_kind') return null;
      return new Set(EVENT_KINDS.filter((kind) => condition.values.includes(kind)));
    case 'all': {
      const parts = condition.of.map(kindsOf).filter((part) => part !== null);
      const [first, ...others] = parts;
      if (first === undefined) return null;
      return new Set([...first].filter((kind) => others.every((part) => part.has(kind))));
    }
    case 'either': {
      const kinds = new Set<EventKind>();
      for (const part of condition.of) {
        const own = kindsOf(part);
        if (own === null) return null;
        for (const kind of own) kinds.add(kind);
      }
      return kinds;
    }
    default:
      return null;
  }
}

/** The longest text that whatever fits the pattern contains; empty when none is known. */
export function literalOf(source: string): string {
  if (source.startsWith('(?i)')) return '';
  let [best, run] = ['', ''];
  const end = (): void => {
    if (run.length > best.length) best = run;
    run = '';
  };
  for (let at = 0; at < source.length; at += 1) {
    const char = source[at] ?? '';
    if (char === '|') return '';
    if (char === '(' || char === '[') {
      end();
      const close = char === '[' ? classEnd(source, at) : groupEnd(source, at);
      at = close;
    } else if (char === '*' || char === '?' || char === '{') {
      // What stands before it may be missing.
      run = Array.from(run).slice(0, -1).join('');
      end();
      if (char === '{') at = source.indexOf('}', at);
    } else if (char === '+') end();
    else if (char === '.' || char === '^' || char === '$') end();
    else if (char === '\\') {
      const next = source[at + 1] ?? '';
      at += 1;
      if (/[A-Za-z0-9]/.test(next)) end();
      else run += next;
    } else run += char;
  }
  end();
  return best;
}

function classEnd(source: string, from: number): number {
  let at = from + 1;
  while (at < source.length && source[at] !== ']') at += source[at] === '\\' ? 2 : 1;
  return at;
}

function groupEnd(source: string, from: number): number {
  let depth = 0;
  for (let at = from; at < source.length; at += 1) {
    const char = source[at];
    if (char === '\\') at += 1;
    else if (char === '[') at = classEnd(source, at);
    else if (char === '(') depth += 1;
    else if (char === ')') {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return source.length;
}
