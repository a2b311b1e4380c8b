// Whether a Console has been told anything yet. Where it listens, how it logs and which certificate it shows does not
// count: the first run has to listen somewhere too. decision: D42
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type ConfigSource, consoleDataDir } from './config.ts';
import { VARIABLES } from './settings.ts';

const PLACE_ONLY: ReadonlySet<string> = new Set([
  'SERVICE_CONSOLE_PORT',
  'SERVICE_CONSOLE_BIND',
  'SERVICE_CONSOLE_BASE_URL',
  'SERVICE_CONSOLE_TLS_CERT',
  'SERVICE_CONSOLE_TLS_KEY',
  'SERVICE_CONSOLE_TLS_CA',
  'SERVICE_CONSOLE_ALLOW_PLAINTEXT_STORES',
  'SERVICE_LOG_LEVEL',
]);

/** True when there is no console.yaml and the environment configures nothing. */
export function needsSetup(
  source: Pick<ConfigSource, 'env' | 'isRoot'>,
  exists: (path: string) => boolean = existsSync,
): boolean {
  if (exists(join(consoleDataDir(source), 'console.yaml'))) return false;
  return !Object.keys(VARIABLES).some(
    (name) => !PLACE_ONLY.has(name) && (source.env[name] ?? '') !== '',
  );
}
