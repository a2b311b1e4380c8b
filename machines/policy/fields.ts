// Strict reading of a located tree: every field is asked for by name, and what nobody asked for is refused. Refusals are
// collected, so that an author sees all of them at once.
import { POLICY_REFUSALS_MAX } from './limits.ts';
import type { Located, PolicyRefusal, RefusalCode } from './located.ts';

/** Without a code it is `invalid`. */
export type Refuse = (at: Located, reason: string, code?: RefusalCode) => undefined;
export type Refusals = { readonly list: readonly PolicyRefusal[]; readonly refuse: Refuse };

export function collectRefusals(): Refusals {
  const list: PolicyRefusal[] = [];
  const refuse: Refuse = ({ path, line, column }, reason, code = 'invalid') => {
    if (list.length < POLICY_REFUSALS_MAX) list.push({ path, line, column, reason, code });
    return undefined;
  };
  return { list, refuse };
}

/** The fields of a mapping: those named are handed out, any other is refused. */
export type Fields = {
  readonly at: Located;
  get(name: string): Located | undefined;
  readonly refuse: Refuse;
};

/** `notHonoured` are fields there are, but not for this engine: they are refused with those words. */
export function fieldsOf(
  at: Located,
  refuse: Refuse,
  names: { readonly known: readonly string[]; readonly notHonoured?: readonly string[] },
): Fields {
  if (at.kind !== 'map') {
    refuse(at, 'must be a mapping');
    return { at, get: () => undefined, refuse };
  }
  for (const [name, value] of at.entries) {
    if (names.known.includes(name)) continue;
    if (names.notHonoured?.includes(name) === true) {
      refuse(value, 'the ebpf engine cannot honour it', 'engine_cannot');
    } else {
      refuse(value, 'there is no such field');
    }
  }
  return { at, get: (name) => at.entries.get(name), refuse };
}

/** Text that is not empty, holds no control character and is not too long. */
export function textOf(
  at: Located | undefined,
  refuse: Refuse,
  maxChars: number,
): string | undefined {
  if (at === undefined) return undefined;
  if (at.kind !== 'scalar' || typeof at.value !== 'string') return refuse(at, 'must be text');
  if (at.value === '' || at.value.length > maxChars) {
    return refuse(at, `must have 1 to ${maxChars} characters`);
  }
  if (hasControl(at.value) || !at.value.isWellFormed()) {
    return refuse(at, 'holds a character that is none');
  }
  return at.value;
}

function hasControl(text: string): boolean {
  for (const sign of text) if (sign < ' ' || sign === '\u007f') return true;
  return false;
}

/** A whole number; text that spells one is none. */
export function wholeOf(
  at: Located | undefined,
  refuse: Refuse,
  range: readonly [number, number],
): number | undefined {
  if (at === undefined) return undefined;
  const value = at.kind === 'scalar' ? at.value : undefined;
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    return refuse(at, 'must be a whole number');
  }
  if (value < range[0] || value > range[1]) {
    return refuse(at, `must lie between ${range[0]} and ${range[1]}`);
  }
  // -0 is 0.
  return value === 0 ? 0 : value;
}

/** `true` or `false`; absent is false. */
export function flagOf(at: Located | undefined, refuse: Refuse): boolean {
  if (at === undefined) return false;
  if (at.kind === 'scalar' && typeof at.value === 'boolean') return at.value;
  refuse(at, 'must be true or false');
  return false;
}

/** One of a few words. */
export function choiceOf<T extends string>(
  at: Located | undefined,
  refuse: Refuse,
  words: readonly T[],
): T | undefined {
  if (at === undefined) return undefined;
  const found = words.find((word) => at.kind === 'scalar' && at.value === word);
  return found ?? refuse(at, `must be one of ${words.join(', ')}`);
}

const encoder = new TextEncoder();

/** How many bytes a text has as UTF-8. */
export function bytesOf(text: string): number {
  return encoder.encode(text).length;
}

/** The items of a list of at most `max`; absent is none. */
export function itemsOf(
  at: Located | undefined,
  refuse: Refuse,
  max: number,
  min = 0,
): readonly Located[] {
  if (at === undefined) return [];
  if (at.kind !== 'list') {
    refuse(at, 'must be a list');
    return [];
  }
  if (at.items.length > max || at.items.length < min) {
    refuse(at, min > 0 ? `must have ${min} to ${max} items` : `must have at most ${max} items`);
    return [];
  }
  return at.items;
}

/** Refuses a field that must be there. */
export function needed<T>(value: T | undefined, fields: Fields, name: string): T | undefined {
  if (value === undefined && fields.get(name) === undefined && fields.at.kind === 'map') {
    return fields.refuse(fields.at, `${name} is missing`);
  }
  return value;
}

/** Refuses a flag that is on; off means what is done anyway. */
export function refuseFlags(fields: Fields, names: readonly string[]): void {
  for (const name of names) {
    const at = fields.get(name);
    if (at !== undefined && flagOf(at, fields.refuse)) {
      fields.refuse(at, 'the ebpf engine cannot honour it', 'engine_cannot');
    }
  }
}
