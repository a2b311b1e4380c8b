// The Sensor as one archive for linux-x64: the bundled Node, the Sensor's own files at their places, the packages they
// need, the joined modules, and what a system needs to run and to remove it. Nothing is built on the node. decision: D68
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { joinedName, joinModules } from '../../sensor/cli/joined-modules.ts';
import { lockedPackages, packagesOf, sbomOf } from './sbom.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PARTS = join(import.meta.dirname, 'sensor');
const OWN = ['machines', 'actors/runtime', 'sensor'];
/** Joins modules at packaging; a node never does. Types are read by nobody there. */
const BUILD_ONLY = ['rolldown', '@types/node'];
/** What of a joined package a node still asks for. */
const ABOUT = /^(package\.json|licen[cs]e.*)$/i;
const NOT_SHIPPED =
  /(\.test|\.fixture|\.d)\.ts$|\.md$|\.pl$|(^|\/)\.|-rig\.ts$|-rows\.ts$|^machines\/console\/(?!.*\b(limits|errors)\.ts$)/;
/** Of other packages; what a package itself depends on is listed by itself. */
const UNUSED =
  /(^|\/)node_modules(\/|$)|^(test|tests|docs|examples|benchmarks?)(\/|$)|\.d\.[cm]?ts$|\.map$/;
const JOINED = ['typebox'];
const EPOCH = '@0';

export const PLATFORM = 'linux-x64';

export type SensorPackage = {
  readonly archive: string;
  /** Lower-case hex of the archive's SHA-256. */
  readonly sha256: string;
};

/** The version that package.json names. */
export function packageVersion(): string {
  return String(lockedPackages()['']?.version);
}

/**
 * Makes the archive and its checksum in a folder; each appears whole or not at all. Throws why it cannot be made.
 * Needs GNU tar and gzip.
 */
export async function packageSensor(folder: string): Promise<SensorPackage> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(
      `the package is made on ${PLATFORM}; this is ${process.platform}-${process.arch}`,
    );
  }
  mkdirSync(folder, { recursive: true });
  const making = mkdtempSync(join(folder, '.making-'));
  try {
    const stage = join(making, 'service-sensor');
    await stageSensor(stage);
    const name = `service-sensor-${packageVersion()}-${PLATFORM}.tar.gz`;
    const archive = join(making, name);
    // The same files make the same archive.
    const order = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--mtime=${EPOCH}`];
    const squeeze = ['--use-compress-program', 'gzip -n -6'];
    execFileSync('tar', [...order, ...squeeze, '-C', making, '-cf', archive, 'service-sensor']);
    const sha256 = sumOf(archive);
    const sums = `${archive}.sha256`;
    writeFileSync(sums, `${sha256}  ${name}\n`);
    const [to, sumsTo] = [join(folder, name), join(folder, `${name}.sha256`)];
    // The sum goes away first and comes last: it never stands beside another archive.
    rmSync(sumsTo, { force: true });
    renameSync(archive, to);
    renameSync(sums, sumsTo);
    return { archive: to, sha256 };
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** Lays the files of the package out in a folder. */
export async function stageSensor(stage: string): Promise<void> {
  for (const file of ownFiles()) copy(join(ROOT, file), join(stage, file));
  const modules = join(stage, 'node_modules');
  const packages = packagesOf('service-sensor', BUILD_ONLY).filter((path) => !isNode(path));
  for (const path of packages) stagePackage(path, stage);
  copy(join(ROOT, 'node_modules', 'node', 'bin', 'node'), join(modules, '.bin', 'node'));
  await joinModules(join(modules, '.cache', 'service-sensor', joinedName(ROOT)));
  const lock = lockedPackages();
  const record = { packages: Object.fromEntries(packages.map((path) => [path, lock[path]])) };
  write(stage, 'node_modules/.package-lock.json', `${JSON.stringify(record, null, 2)}\n`);
  const version = packageVersion();
  const about = { name: 'service-sensor', version, private: true, type: 'module' };
  write(stage, 'package.json', `${JSON.stringify(about, null, 2)}\n`);
  write(stage, 'service-sensor.cdx.json', sbomOf('service-sensor', BUILD_ONLY));
  copy(join(ROOT, 'LICENSE'), join(stage, 'LICENSE'));
  write(stage, 'NOTICE', noticeOf(packages));
  for (const name of readdirSync(PARTS)) {
    const to = name === 'service-sensor' ? join(stage, 'bin', name) : join(stage, name);
    copy(join(PARTS, name), to);
    if (!name.endsWith('.service')) chmodSync(to, 0o755);
  }
  write(stage, 'SHA256SUMS', sumsOf(stage));
}

function ownFiles(): readonly string[] {
  // What version control names, so that nothing that merely lies there is shipped.
  const listed = execFileSync('git', ['ls-files', '-z', ...OWN], { cwd: ROOT, encoding: 'utf8' });
  return [...listed.split('\0'), NOTICE].filter(
    (path) => path === NOTICE || (path !== '' && !NOT_SHIPPED.test(path)),
  );
}
const NOTICE = 'sensor/engine/native/NOTICE.md';

// Node itself comes as one program.
const isNode = (path: string) => /^node_modules\/node(\/|$)/.test(path);

function stagePackage(path: string, stage: string): void {
  const from = join(ROOT, path);
  const isJoined = JOINED.some((name) => path === `node_modules/${name}`);
  if (!existsSync(from)) throw new Error(`${path} is not installed`);
  cpSync(from, join(stage, path), {
    recursive: true,
    dereference: true,
    filter: (source) => {
      const inside = relative(from, source);
      if (inside === '') return true;
      if (isJoined) return ABOUT.test(inside);
      return !UNUSED.test(inside);
    },
  });
}

function noticeOf(packages: readonly string[]): string {
  const lock = lockedPackages();
  const lines = packages.map((path) => {
    const { version = '', license = '' } = lock[path] ?? {};
    return `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)} ${version}  ${license}`;
  });
  return [
    'The Sensor is licensed under Apache-2.0 (LICENSE). It carries Node.js (MIT and others, see',
    'https://github.com/nodejs/node/blob/main/LICENSE) and these packages, each with its licence in node_modules/NAME:',
    '',
    ...lines,
    '',
    readFileSync(join(ROOT, NOTICE), 'utf8'),
  ].join('\n');
}

function sumsOf(stage: string): string {
  const files = readdirSync(stage, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(stage, join(entry.parentPath, entry.name)));
  return `${files
    .sort()
    .map((file) => `${sumOf(join(stage, file))}  ${file}`)
    .join('\n')}\n`;
}

function sumOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { dereference: true });
}

function write(stage: string, file: string, text: string): void {
  mkdirSync(dirname(join(stage, file)), { recursive: true });
  writeFileSync(join(stage, file), text);
}
