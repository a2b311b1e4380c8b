// How a line that this program prints names it: by its path. `npx NAME` outside of a checkout asks a public registry for a
// package of that name, which may be a stranger's. decision: D68
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Of a package, which brings its own Node; of a checkout. */
const LAUNCHERS = ['../../../bin/service-console', '../service-console.js'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

/** The launcher's path, quoted where a shell needs it. */
export function programPath(
  launcher: string = LAUNCHERS.find((path) => existsSync(path)) ?? 'service-console',
): string {
  return /^[\w./@%+:,-]+$/.test(launcher) ? launcher : `'${launcher.replaceAll("'", "'\\''")}'`;
}
