// Requests and certificates that openssl wrote; no private key is kept.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The text of one of the files in `fixtures/`. */
export function fixture(name: string): string {
  return readFileSync(join(import.meta.dirname, 'fixtures', name), 'utf8');
}
