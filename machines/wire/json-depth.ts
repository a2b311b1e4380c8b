// How deep JSON text is nested, without parsing it.
import { JSON_DEPTH_MAX } from '../limits.ts';

/** Scans for nesting without parsing, so that a deep document costs nothing. Brackets inside strings do not count. */
export function isShallow(text: string, depthMax: number = JSON_DEPTH_MAX): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === 0x22) {
      at = endOfString(text, at);
    } else if (char === 0x7b || char === 0x5b) {
      depth += 1;
      if (depth > depthMax) return false;
    } else if (char === 0x7d || char === 0x5d) depth -= 1;
  }
  return true;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}
