// The promises of every parser of the wire: a refusal of the catalogue that is small, or a value that fits the schema
// read word by word, is nested no deeper than allowed, and parses to the same again when it is written.
import { isUtf8 } from 'node:buffer';
import { ERRORS } from '../../machines/errors.ts';
import { JSON_DEPTH_MAX } from '../../machines/limits.ts';
import type { Parsed } from '../../machines/wire/parse.ts';
import { depthOf, fitsSchema } from './fits-schema.ts';
import { demand, demandSame, type Note } from './target.ts';

const REFUSAL_MAX_CHARS = 8_192;

/** The text that the sensor plane makes of a body; null when it is refused before any parser. */
export function bodyText(bytes: Buffer): string | null {
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
}

/** Checks what a parser answered to a text. */
export function checkParsed<T>(
  text: string,
  parse: (text: string) => Parsed<T>,
  schema: object,
  note: Note,
): T | null {
  const parsed = parse(text);
  if (parsed.ok) {
    demand(fitsSchema(parsed.value, schema), 'an accepted value does not fit its schema');
    demand(depthOf(parsed.value) <= JSON_DEPTH_MAX, 'an accepted value is nested too deep');
    const again = parse(JSON.stringify(parsed.value));
    demandSame(again.ok && again.value, parsed.value, 'an accepted value does not parse again');
    note('accepted');
    return parsed.value;
  }
  checkRefusal(parsed, note);
  const value = jsonOf(text);
  const isShallow = value !== undefined && depthOf(value) <= JSON_DEPTH_MAX;
  demand(!isShallow || !fitsSchema(value, schema), 'a value that fits its schema is refused');
  return null;
}

/** Checks that a refusal is one of the catalogue and of bounded size. */
export function checkRefusal(refusal: Exclude<Parsed<unknown>, { ok: true }>, note: Note): void {
  demand(Object.hasOwn(ERRORS, refusal.code), 'a refusal is not in the catalogue');
  const size = JSON.stringify(refusal).length;
  demand(size <= REFUSAL_MAX_CHARS, `a refusal is too large: ${size} characters`);
  for (const { pointer, detail } of refusal.errors ?? []) {
    note(`${refusal.code} ${placeOf(pointer)} ${detail.slice(0, 60)}`);
  }
  note(`${refusal.code} ${refusal.detail.replaceAll(/\d+/g, '#').slice(0, 80)}`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// A place of the schema: names and numbers that the sender chose are all one.
function placeOf(pointer: string): string {
  const parts = pointer.split('/').slice(0, 6);
  return parts.map((part) => (/^[a-z_]{1,24}$/.test(part) ? part : '#')).join('/');
}
