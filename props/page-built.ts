// Builds the page before the service tests begin, so that the programs they start find it and need not build it at once.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export default function buildPage(): void {
  const script = join(import.meta.dirname, '..', 'gateway', 'page', 'build-page.ts');
  execFileSync(process.execPath, [script], { stdio: ['ignore', 'ignore', 'inherit'] });
}
