// Which addresses belong to the page. Everything else stays what it is: the API, probes, or a problem that says that there
// is nothing. The page's own routes are checked against this list.

/** First parts of the paths of the page, once the Console serves. */
export const PAGE_ROOTS = [
  ...['', 'login', 'account', 'sensors', 'events', 'actors', 'deploy', 'settings', 'audit'],
  ...['alerts', 'alert-rules', 'policies'],
  ...['coverage', 'help', 'docs'],
  ...['searches', 'investigations', 'exercises'],
] as const;

/** The same during the first run. */
export const SETUP_ROOTS = ['', 'setup'] as const;

/** Whether a path is one of the page. */
export function isPagePath(path: string, roots: readonly string[]): boolean {
  return roots.includes(path.split('/', 2)[1] ?? '');
}
