// How teams, groups and tags are written, and what changes when people or sensors join and leave them. decision: D43
import {
  GROUPS_PER_SENSOR_MAX,
  LABEL_NAME_MAX_CHARS,
  TAG_MAX_CHARS,
  TAGS_PER_SENSOR_MAX,
} from '../../limits.ts';

const TAG = /^[a-z0-9](?:[a-z0-9._:/=-]*[a-z0-9])?$/;

/** Whether a text is a tag: lower case, so that the same word is never two tags. */
export function isTag(text: string): boolean {
  return text.length <= TAG_MAX_CHARS && TAG.test(text);
}

/** What a name is unique by: two that look alike to a reader are the same. */
export function nameKeyOf(name: string): string {
  return name.normalize('NFKC').toLowerCase().normalize('NFKC');
}

/** The name as it is kept, or null when it is none: composed, no spaces at its ends or in a row, nothing invisible. */
export function labelNameOf(text: string): string | null {
  if (!text.isWellFormed()) return null;
  const name = text.normalize('NFC').replace(/ +/g, ' ').trim();
  if (name.length === 0 || name.length > LABEL_NAME_MAX_CHARS) return null;
  return /[\p{C}\p{Zl}\p{Zp}]/u.test(name) || nameKeyOf(name).trim() === '' ? null : name;
}

export type TagsResult =
  | { readonly ok: true; readonly tags: readonly string[] }
  | { readonly ok: false; readonly reason: 'too_many' }
  | { readonly ok: false; readonly reason: 'no_tag'; readonly index: number };

/** A sensor's tags: each once, in order; refused when one is no tag or there are too many. */
export function tagsOf(texts: readonly string[]): TagsResult {
  const index = texts.findIndex((text) => !isTag(text));
  if (index !== -1) return { ok: false, reason: 'no_tag', index };
  const tags = [...new Set(texts)].sort();
  return tags.length > TAGS_PER_SENSOR_MAX ? { ok: false, reason: 'too_many' } : { ok: true, tags };
}

/** Whether a sensor may be in so many groups. */
export function areGroupsBounded(groupIds: readonly string[]): boolean {
  return groupIds.length <= GROUPS_PER_SENSOR_MAX;
}

export type SetChange = { readonly added: readonly string[]; readonly removed: readonly string[] };

/** What really joins and leaves a set: leaving first, so whoever does both is in it afterwards. */
export function changeOf(
  before: readonly string[],
  asked: { readonly add: readonly string[]; readonly remove: readonly string[] },
): SetChange {
  const had = new Set(before);
  const add = new Set(asked.add);
  return {
    added: [...add].filter((one) => !had.has(one)).sort(),
    removed: [...new Set(asked.remove)].filter((one) => had.has(one) && !add.has(one)).sort(),
  };
}

/** What must join and leave for one set to become another. */
export function replacementOf(before: readonly string[], after: readonly string[]): SetChange {
  const wanted = new Set(after);
  return changeOf(before, { add: after, remove: before.filter((one) => !wanted.has(one)) });
}
