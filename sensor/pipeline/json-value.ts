// Careful looks into JSON of unknown shape, and texts cut to what the event allows. Nothing here throws.
export type JsonObject = { readonly [key: string]: unknown };

const NOTHING: JsonObject = {};

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object under a key, or an empty one. */
export function objectAt(value: JsonObject, key: string): JsonObject {
  const found = Object.hasOwn(value, key) ? value[key] : undefined;
  return isObject(found) ? found : NOTHING;
}

export function listAt(value: JsonObject, key: string): readonly unknown[] {
  const found = Object.hasOwn(value, key) ? value[key] : undefined;
  return Array.isArray(found) ? found : [];
}

/** A text of at most `max` UTF-16 units, never ending in half a character; '' when there is none. */
export function textAt(value: JsonObject, key: string, max: number): string {
  const found = Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof found === 'string' ? cutText(found, max) : '';
}

/** A whole number from 0 up, also from the decimal text that 64-bit values travel as. */
export function countAt(value: JsonObject, key: string): number | undefined {
  const found = Object.hasOwn(value, key) ? value[key] : undefined;
  const number = typeof found === 'string' && /^\d{1,16}$/.test(found) ? Number(found) : found;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0
    ? number
    : undefined;
}

/** Cuts between code points, and replaces what is no well-formed Unicode. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed();
  const last = text.charCodeAt(max - 1);
  const end = last >= 0xd800 && last <= 0xdbff ? max - 1 : max;
  return text.slice(0, end).toWellFormed();
}

/** For a line meant for eyes: runs of blanks and control characters, also those that move a terminal, become one space. */
export function plainText(text: string, max: number): string {
  return cutText(text.replace(/[\u0000-\u0020\u007f-\u00a0\u2028\u2029]+/g, ' ').trim(), max);
}
