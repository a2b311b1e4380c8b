// What both packages share: files laid out in a folder, a sum of every one, and one archive with its checksum that appears
// whole or not at all. Needs GNU tar and gzip. decision: D68, D115
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
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
import { lockedPackages } from './sbom.ts';

export const ROOT = join(import.meta.dirname, '..', '..');
export const PLATFORM = 'linux-x64';
const EPOCH = '@0';
/** Of other packages; what a package itself depends on is listed by itself. */
const UNUSED =
  /(^|\/)node_modules(\/|$)|^(test|tests|docs|examples|benchmarks?|skills)(\/|$)|(\.d|\.test)\.[cm]?[jt]s$|\.map$/;

export type Package = {
  readonly archive: string;
  /** Lower-case hex of the archive's SHA-256. */
  readonly sha256: string;
};

/** The version that package.json names. */
export function packageVersion(): string {
  return String(lockedPackages()['']?.version);
}

/** Makes the archive of a program in a folder, from what `lay` lays out. Throws why it cannot be made. */
export async function packageProgram(
  folder: string,
  program: string,
  lay: (stage: string) => Promise<void>,
): Promise<Package> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(
      `the package is made on ${PLATFORM}; this is ${process.platform}-${process.arch}`,
    );
  }
  mkdirSync(folder, { recursive: true });
  const making = mkdtempSync(join(folder, '.making-'));
  try {
    const stage = join(making, program);
    await lay(stage);
    write(stage, 'SHA256SUMS', sumsOf(stage));
    const name = `${program}-${packageVersion()}-${PLATFORM}.tar.gz`;
    const archive = join(making, name);
    // The same files make the same archive.
    const order = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--mtime=${EPOCH}`];
    const squeeze = ['--use-compress-program', 'gzip -n -6'];
    execFileSync('tar', [...order, ...squeeze, '-C', making, '-cf', archive, program]);
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

/** What version control names below some folders, so that nothing that merely lies there is shipped. */
export function ownFiles(folders: readonly string[]): readonly string[] {
  const listed = execFileSync('git', ['ls-files', '-z', ...folders], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return listed.split('\0').filter((path) => path !== '');
}

/** Copies a package of others into a stage, but for what is used by nobody there. */
export function stagePackage(
  path: string,
  stage: string,
  isShipped: (inside: string) => boolean = () => true,
): void {
  const from = join(ROOT, path);
  if (!existsSync(from)) throw new Error(`${path} is not installed`);
  cpSync(from, join(stage, path), {
    recursive: true,
    dereference: true,
    filter: (source) => {
      const inside = relative(from, source);
      return inside === '' || (!UNUSED.test(inside) && isShipped(inside));
    },
  });
}

/** Node itself comes as one program. */
export function stageNode(stage: string): void {
  copy(
    join(ROOT, 'node_modules', 'node', 'bin', 'node'),
    join(stage, 'node_modules', '.bin', 'node'),
  );
}
export const isNode = (path: string): boolean => /^node_modules\/node(\/|$)/.test(path);

/** The lock file of a stage: what it holds, as npm's own record of what is installed says it. */
export function recordOf(packages: readonly string[]): string {
  const lock = lockedPackages();
  const record = { packages: Object.fromEntries(packages.map((path) => [path, lock[path]])) };
  return `${JSON.stringify(record, null, 2)}\n`;
}

/** What a package is, who wrote what it carries, and under which licence. */
export function stageAbout(
  stage: string,
  about: {
    readonly name: string;
    readonly program: string;
    readonly packages: readonly string[];
    readonly bill: string;
    readonly more: string;
  },
): void {
  const { name, packages } = about;
  const described = { name, version: packageVersion(), private: true, type: 'module' };
  write(stage, 'package.json', `${JSON.stringify(described, null, 2)}\n`);
  write(stage, `${name}.cdx.json`, about.bill);
  copy(join(ROOT, 'LICENSE'), join(stage, 'LICENSE'));
  const lock = lockedPackages();
  const lines = packages.map((path) => {
    const { version = '', license = '' } = lock[path] ?? {};
    return `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)} ${version}  ${license}`;
  });
  const notice = [
    `The ${about.program} is licensed under Apache-2.0 (LICENSE). It carries Node.js (MIT and others, see`,
    'https://github.com/nodejs/node/blob/main/LICENSE) and these packages, each with its licence in node_modules/NAME:',
    '',
    ...lines,
    '',
    about.more,
  ];
  write(stage, 'NOTICE', notice.join('\n'));
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

/** Copies a file or folder; what a link names is copied in its place. */
export function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { dereference: true, recursive: true });
}

/** Writes a file of a stage. */
export function write(stage: string, file: string, text: string): void {
  mkdirSync(dirname(join(stage, file)), { recursive: true });
  writeFileSync(join(stage, file), text);
}
