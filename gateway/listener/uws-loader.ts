// Loads uWebSockets.js. Only binaries whose SHA-256 is pinned are ever opened: the package is repackaged by a third
// party, and native code needs no second chance. On glibc before 2.38 a cured copy is opened instead. decision: D2
import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { cureGlibc } from './elf-glibc-cure.ts';
import { openNativeUws, type Uws } from './unsafe-uws.ts';
import { PINNED_BINARIES } from './uws-binaries.ts';

const GLIBC_NEEDED_MAJOR = 2;
const GLIBC_NEEDED_MINOR = 38;

export type Host = {
  readonly platform: string;
  readonly arch: string;
  /** `process.versions.modules` */
  readonly abi: string;
  /** Version of the running glibc; undefined where there is none (musl). */
  readonly glibc: string | undefined;
};

export type BinaryPlan =
  | { readonly ok: true; readonly kind: 'published' }
  | { readonly ok: true; readonly kind: 'cured'; readonly image: Buffer; readonly sha256: string }
  | { readonly ok: false; readonly reason: string };

export type LoadUwsResult =
  | { readonly ok: true; readonly uws: Uws; readonly cured: boolean }
  | { readonly ok: false; readonly reason: string };

/** Decides whether a binary may be opened on a host, and in which form. Touches nothing. */
export function planBinary(image: Buffer, host: Host): BinaryPlan {
  const name = `${host.platform}-${host.arch}-${host.abi}`;
  if (host.platform === 'linux' && host.glibc === undefined)
    return refused('the listener needs glibc; this system has another C library (musl)');
  const pinned = PINNED_BINARIES[name];
  if (!pinned) return refused(`no pinned uWebSockets.js binary for ${name}`);
  const sum = sha256(image);
  if (sum !== pinned.published)
    return refused(`the uWebSockets.js binary for ${name} is unknown (SHA-256 ${sum})`);
  if (isNewEnough(host.glibc ?? '')) return { ok: true, kind: 'published' };
  if (host.arch !== 'x64')
    return refused(`glibc ${host.glibc} is too old on ${host.arch}; 2.38 or newer is needed`);
  const cure = cureGlibc(image);
  if (!cure.ok) return refused(cure.reason);
  const curedSum = sha256(cure.image);
  if (curedSum !== pinned.cured)
    return refused(`the cured uWebSockets.js binary is not the pinned one (SHA-256 ${curedSum})`);
  return { ok: true, kind: 'cured', image: cure.image, sha256: curedSum };
}

/** Opens the listener's native module; a cured copy is kept in `cacheDir` and checked again at every start. */
export function loadUws(options: { readonly cacheDir: string }): LoadUwsResult {
  const host = describeHost();
  const file = join(
    dirname(createRequire(import.meta.url).resolve('uWebSockets.js')),
    `uws_${host.platform}_${host.arch}_${host.abi}.node`,
  );
  try {
    const plan = planBinary(readFileSync(file), host);
    if (!plan.ok) return plan;
    if (plan.kind === 'published') return { ok: true, uws: openNativeUws(file), cured: false };
    const copy = keepCopy(options.cacheDir, plan);
    return { ok: true, uws: openNativeUws(copy), cured: true };
  } catch (error) {
    return refused(
      `uWebSockets.js cannot be loaded: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** What the running process stands on. */
export function describeHost(): Host {
  const report: unknown = process.report.getReport();
  const header = isRecord(report) && isRecord(report['header']) ? report['header'] : {};
  const glibc = header['glibcVersionRuntime'];
  return {
    platform: process.platform,
    arch: process.arch,
    abi: process.versions.modules,
    glibc: typeof glibc === 'string' ? glibc : undefined,
  };
}

function keepCopy(cacheDir: string, plan: { image: Buffer; sha256: string }): string {
  mkdirSync(cacheDir, { recursive: true, mode: 0o700 });
  const copy = join(cacheDir, `uws-${plan.sha256.slice(0, 16)}.node`);
  if (hasSum(copy, plan.sha256)) return copy;
  const temporary = `${copy}.${randomUUID()}`;
  try {
    const descriptor = openSync(temporary, 'wx', 0o700);
    try {
      for (let at = 0; at < plan.image.length; ) at += writeSync(descriptor, plan.image, at);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, copy);
  } finally {
    rmSync(temporary, { force: true });
  }
  if (!hasSum(copy, plan.sha256)) throw new Error(`${copy} does not hold what was written`);
  return copy;
}

function hasSum(file: string, expected: string): boolean {
  try {
    return sha256(readFileSync(file)) === expected;
  } catch {
    return false;
  }
}

function isNewEnough(glibc: string): boolean {
  const [major = 0, minor = 0] = glibc.split('.').map(Number);
  return (
    major > GLIBC_NEEDED_MAJOR || (major === GLIBC_NEEDED_MAJOR && minor >= GLIBC_NEEDED_MINOR)
  );
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function refused(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
