// How a line that this program prints names it: by its path. `npx NAME` outside of a checkout asks a public registry for a
// package of that name, which may be a stranger's. decision: D68
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const pathOf = (from: string) => fileURLToPath(new URL(from, import.meta.url));
/** Of a package, which brings its own Node; of a checkout. */
const PACKAGED = pathOf('../../../bin/service-console');
const LAUNCHER = existsSync(PACKAGED) ? PACKAGED : pathOf('../service-console.js');

/** The launcher's path, quoted where a shell needs it. */
export function programPath(launcher: string = LAUNCHER): string {
  return /^[\w./@%+:,-]+$/.test(launcher) ? launcher : `'${launcher.replaceAll("'", "'\\''")}'`;
}
