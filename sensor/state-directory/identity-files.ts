// The identity files as facts for the rules, and the rules' steps as file calls.
import { join } from 'node:path';
import {
  type IdentityFile,
  type IdentityFiles,
  type IdentityStep,
  type KeyFact,
  UNREADABLE,
} from '../../machines/sensor/identity-files.rules.ts';
import { readText, removeDurably, writeAtomic } from './atomic-file.ts';
import type { Files } from './file-port.ts';
import { type KeyPair, STATE_FILES } from './identity.ts';
import type { PemReading } from './key-work.ts';

export const KEY_MODE = 0o600;
export const OPEN_MODE = 0o644;
const KEYS: readonly IdentityFile[] = ['key', 'previousKey', 'nextKey'];
const NAMES: readonly IdentityFile[] = [
  'key',
  'certificate',
  'previousKey',
  'previousCertificate',
  'nextKey',
  'nextCertificate',
];
const NOTHING: IdentityFiles = {
  key: null,
  certificate: null,
  previousKey: null,
  previousCertificate: null,
  nextKey: null,
  nextCertificate: null,
};

/** Binds the identity files of one directory. */
export function createIdentityFiles(files: Files, path: string, pem: PemReading) {
  const isKey = (file: IdentityFile): boolean => KEYS.includes(file);

  async function factOf(file: IdentityFile): Promise<KeyFact> {
    const text = await readText(files, path, STATE_FILES[file]);
    if (text === null) return null;
    if (!isKey(file)) return pem.certificateFacts(text)?.keyDigest ?? UNREADABLE;
    await closeToOthers(file);
    return pem.keyDigest(text) ?? UNREADABLE;
  }

  // A key that others could read is closed again. invariant: I7
  async function closeToOthers(file: IdentityFile): Promise<void> {
    const name = join(path, STATE_FILES[file]);
    const mode = (await files.stat(name))?.mode ?? KEY_MODE;
    if (mode !== KEY_MODE) await files.setMode(name, KEY_MODE);
  }

  return {
    async facts(): Promise<IdentityFiles> {
      let facts = NOTHING;
      for (const name of NAMES) facts = { ...facts, [name]: await factOf(name) };
      return facts;
    },
    /** Each step is durable before the next begins. */
    async carryOut(steps: readonly IdentityStep[]): Promise<void> {
      for (const { to, from } of steps) {
        const text = from === null ? null : await readText(files, path, STATE_FILES[from]);
        if (text === null) await removeDurably(files, path, STATE_FILES[to]);
        else {
          const mode = isKey(to) ? KEY_MODE : OPEN_MODE;
          await writeAtomic(files, path, STATE_FILES[to], { text, mode });
        }
      }
    },
    async pair(key: IdentityFile, certificate: IdentityFile): Promise<KeyPair | null> {
      const keyPem = await readText(files, path, STATE_FILES[key]);
      const certPem = await readText(files, path, STATE_FILES[certificate]);
      return keyPem === null || certPem === null ? null : { keyPem, certPem };
    },
  };
}
