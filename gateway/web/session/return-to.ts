// Where a login leads back to: only ever a path of this page. A text that a browser could take for another host is none.
const OWN_PATH = /^\/(?![/\\])[^\\\p{Cc}]*$/u;

/** The path if it is one of ours, otherwise the start. */
export function ownPath(given: string | undefined): string {
  return given !== undefined && OWN_PATH.test(given) && !given.startsWith('/login') ? given : '/';
}
