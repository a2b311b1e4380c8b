// Builds the page before the service tests begin, so that the programs they start find it and need not build it at once.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Every project of the services asks for it; the first one that runs builds. */
const BUILT = 'PAGE_IS_BUILT';

export default function buildPage(): void {
  if (process.env[BUILT] === '1') return;
  const script = join(import.meta.dirname, '..', 'gateway', 'page', 'build-page.ts');
  execFileSync(process.execPath, [script], { stdio: ['ignore', 'ignore', 'inherit'] });
  process.env[BUILT] = '1';
}
