// Changing the root of the Console's authority without a node that is cut off, in three steps with a lifetime of Sensors'
// certificates between them. First the new root stands beside the old one and every renewal tells it; then it signs, and
// what the old one signed is still good; then the old one goes. Each step can be done again after a crash. decision: D70;
// contract of the keys on disk as everywhere: key first, then certificate. invariant: I7, I13
import type { X509Certificate } from 'node:crypto';
import { createPrivateKey } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { makeRootCertificate, makeRootKey } from './certificate-authority.ts';
import { flushFolder, keepPrivate, readIfPresent, writeFileDurably } from './key-files.ts';
import { keyIdOf, lastOf, noteKey } from './key-journal.ts';
import { readCertificates } from './pem.ts';

const KEY = 'console-ca.key.pem';
const NEXT_KEY = 'console-ca.next.key.pem';
const ROOTS = 'console-ca.cert.pem';

export type RotationStep = 'prepared' | 'activated' | 'retired';
export type RotationResult =
  | { readonly ok: true; readonly step: RotationStep; readonly roots: number }
  | { readonly ok: false; readonly reason: string };
type Rotation = {
  readonly folder: string;
  readonly nowMs: number;
  /** How long a Sensor's certificate is good at most. */
  readonly lifetimeMs: number;
  /** Goes on though nodes may not know the new root yet: they have to enrol again. */
  readonly isForced: boolean;
};

/** Does the next step; says from when it may be done when that is later. */
export async function rotateAuthority(options: Rotation): Promise<RotationResult> {
  const { folder } = options;
  const [key, roots] = await Promise.all([read(folder, KEY), read(folder, ROOTS)]);
  if (key === null || roots === null) return refused('there is no authority here yet');
  const next = await read(folder, NEXT_KEY);
  const certificates = readCertificates(roots);
  if (next === null && certificates.length > 1) return retire(options, key, certificates);
  const nextRoot = next === null ? undefined : rootOf(certificates, next);
  if (next === null || nextRoot === undefined) return prepare(options, certificates, next);
  return activate(options, nextRoot, certificates.length);
}

async function prepare(
  { folder, nowMs }: Rotation,
  roots: readonly X509Certificate[],
  made: string | null,
): Promise<RotationResult> {
  const pem = made ?? (await makeRootKey(join(folder, NEXT_KEY)));
  const key = createPrivateKey(pem);
  const kid = keyIdOf('service-ca-v1', Buffer.from(pem));
  const root = await makeRootCertificate({ key, nowMs, commonName: `Service Console Root ${kid}` });
  const text = [...roots, root].map(String).join('');
  await noteKey(folder, { key: 'ca', what: 'prepared' }, nowMs);
  await writeFileDurably(join(folder, ROOTS), text, 'public');
  return { ok: true, step: 'prepared', roots: roots.length + 1 };
}

async function activate(
  { folder, nowMs, lifetimeMs, isForced }: Rotation,
  root: X509Certificate,
  roots: number,
): Promise<RotationResult> {
  const preparedMs =
    (await lastOf(folder, { key: 'ca', what: 'prepared' })) ?? root.validFromDate.getTime();
  const early = tooEarly(preparedMs + lifetimeMs, nowMs, isForced);
  if (early !== null) return early;
  // Noted first: a step that was done and not noted would let the next one come too early.
  await noteKey(folder, { key: 'ca', what: 'activated' }, nowMs);
  await rename(join(folder, NEXT_KEY), join(folder, KEY));
  await keepPrivate(join(folder, KEY));
  await flushFolder(folder);
  return { ok: true, step: 'activated', roots };
}

async function retire(
  { folder, nowMs, lifetimeMs, isForced }: Rotation,
  key: string,
  roots: readonly X509Certificate[],
): Promise<RotationResult> {
  const signing = rootOf(roots, key);
  if (signing === undefined) return refused(`${ROOTS} holds no root of ${KEY}`);
  const activatedMs = (await lastOf(folder, { key: 'ca', what: 'activated' })) ?? nowMs;
  const early = tooEarly(activatedMs + lifetimeMs, nowMs, isForced);
  if (early !== null) return early;
  await writeFileDurably(join(folder, ROOTS), String(signing), 'public');
  await noteKey(folder, { key: 'ca', what: 'retired' }, nowMs);
  return { ok: true, step: 'retired', roots: 1 };
}

function tooEarly(fromMs: number, nowMs: number, isForced: boolean): RotationResult | null {
  if (isForced || nowMs >= fromMs) return null;
  const from = new Date(fromMs).toISOString();
  return refused(`not before ${from}: until then there may be nodes that would be cut off`);
}

function rootOf(roots: readonly X509Certificate[], keyPem: string): X509Certificate | undefined {
  const key = createPrivateKey(keyPem);
  return roots.find((root) => root.checkPrivateKey(key));
}

async function read(folder: string, name: string): Promise<string | null> {
  return (await readIfPresent(join(folder, name))) ?? null;
}

function refused(reason: string): RotationResult {
  return { ok: false, reason };
}
