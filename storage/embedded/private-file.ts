// Small private files of the embedded tier: secrets and markers, written whole or not at all, readable by the owner.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';

/** Writes a file that only its owner reads, whole or not at all. */
export function writePrivate(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.new`;
  writeFileSync(temporary, text, { mode: 0o600, flush: true });
  renameSync(temporary, path);
}

/** A JSON object from a file; null when it is absent or broken. */
export function readJson(path: string): Readonly<Record<string, unknown>> | null {
  try {
    const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof parsed === 'object' && parsed !== null
      ? (parsed as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** The wanted loopback port when it is free, otherwise one that is. */
export async function freePort(wanted = 0): Promise<number> {
  const listen = (port: number) =>
    new Promise<number>((resolve, reject) => {
      const server = createServer();
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        const address = server.address();
        const found = typeof address === 'object' && address !== null ? address.port : port;
        server.close(() => resolve(found));
      });
    });
  return listen(wanted).catch(() => listen(0));
}
