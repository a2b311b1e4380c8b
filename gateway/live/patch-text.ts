// A patch as it is sent: never so large that it alone fills what may wait for a reader. Of what does not fit the newest is
// kept, and the rest is told as left out, as if it had come too fast. invariant: I10
import { LIVE_PATCH_MAX_BYTES } from '../../machines/limits.ts';

type Patch = Readonly<Record<string, unknown>>;
const LISTS = ['items', 'moves', 'sensors'];

/** The text of a patch under its address, at most LIVE_PATCH_MAX_BYTES of UTF-8 as long as a list is what makes it long. */
export function patchText(address: Patch, patch: Patch): string {
  let fitting = patch;
  for (;;) {
    const text = JSON.stringify({ ...address, patch: fitting });
    if (Buffer.byteLength(text) <= LIVE_PATCH_MAX_BYTES) return text;
    const next = shorter(fitting);
    if (next === null) return text;
    fitting = next;
  }
}

/** Without the older half of its list; null where it has none. */
function shorter(patch: Patch): Patch | null {
  for (const name of LISTS) {
    const list = patch[name];
    if (!Array.isArray(list) || list.length === 0) continue;
    const gone = Math.ceil(list.length / 2);
    const told =
      name === 'sensors' ? { truncated: true } : { dropped: Number(patch['dropped'] ?? 0) + gone };
    return { ...patch, [name]: list.slice(gone), ...told };
  }
  return null;
}
