// How a line that this program prints names it: by its path. `npx NAME` outside of a checkout asks a public registry for a
// package of that name, which may be a stranger's. decision: D68
import { fileURLToPath } from 'node:url';

const LAUNCHER = new URL('../service-console.js', import.meta.url);

/** The launcher's path, quoted where a shell needs it. */
export function programPath(launcher: string = fileURLToPath(LAUNCHER)): string {
  return /^[\w./@%+:,-]+$/.test(launcher) ? launcher : `'${launcher.replaceAll("'", "'\\''")}'`;
}
