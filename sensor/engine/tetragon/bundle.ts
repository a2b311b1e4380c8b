// The Tetragon bundle an operator placed on this node: a directory or a tarball, as its project publishes it. Only a
// bundle with the pinned SHA-256 is used, and of it only the program, the BPF objects and the map reader; they are copied
// into a place of our own, hashed on the way, so that what runs is what was hashed. decision: D46
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createGunzip } from 'node:zlib';
import {
  TETRAGON_BUNDLE_BYTES_MAX,
  TETRAGON_BUNDLE_ENTRIES_MAX,
} from '../../../machines/sensor/tetragon-limits.ts';
import { parseJson } from '../../../machines/wire/parse.ts';
import { readTar, type TarEntry } from './tar.ts';

export type PlacedBundle = {
  readonly program: string;
  readonly bpfLib: string;
  /** Reads kernel maps; undefined when the bundle has none. */
  readonly mapReader: string | undefined;
};
export type BundleResult =
  | { readonly ok: true; readonly bundle: PlacedBundle }
  | { readonly ok: false; readonly reason: string };
type Sums = Record<string, string>;

const MANIFEST = 'manifest.json';
const PROGRAM = 'bin/tetragon';
const MAP_READER = 'bin/bpftool';
const PIN = /^[0-9a-f]{64}$/;

/** The SHA-256 to pin: of the tarball, or of the lines `<sha256>  <path>` of a directory's files, sorted by path. */
export async function pinOf(bundle: string): Promise<string> {
  const whole = createHash('sha256');
  const isDirectory = (await stat(bundle)).isDirectory();
  if (!isDirectory) {
    for await (const chunk of createReadStream(bundle)) whole.update(chunk);
    return whole.digest('hex');
  }
  for await (const entry of walk(bundle, whole)) for await (const chunk of entry.body) void chunk;
  return whole.digest('hex');
}

/** Puts the pinned bundle where it runs from, once. Nothing is left behind when it is refused. Never rejects. */
export async function placeBundle(options: {
  readonly bundle: string;
  readonly pin: string;
  /** Ours alone; what earlier bundles left there is removed. */
  readonly directory: string;
  /** The pin of another one that stays there. */
  readonly keep?: string;
}): Promise<BundleResult> {
  const { bundle, pin, directory } = options;
  if (!PIN.test(pin)) return { ok: false, reason: 'the pinned SHA-256 must be 64 hex digits' };
  const place = placeIn(directory, pin);
  const stays = [pin, options.keep ?? pin].map((one) => path.basename(placeIn(directory, one)));
  const arriving = `${place}.new`;
  try {
    const there = await readManifest(place);
    if (there === undefined || !(await isIntact(place, there))) {
      await rm(arriving, { recursive: true, force: true });
      await mkdir(arriving, { recursive: true, mode: 0o700 });
      const sums = await copyInto(arriving, bundle, pin);
      await writeFile(path.join(arriving, MANIFEST), JSON.stringify(sums), { mode: 0o600 });
      await rm(place, { recursive: true, force: true });
      await rename(arriving, place);
    }
    for (const name of await readdir(directory)) {
      const isOurs = /^[0-9a-f]{16}(\.new)?$/.test(name) && !stays.includes(name);
      if (isOurs) await rm(path.join(directory, name), { recursive: true, force: true });
    }
    const sums = (await readManifest(place)) ?? {};
    return { ok: true, bundle: layoutOf(place, sums) };
  } catch (error) {
    await rm(arriving, { recursive: true, force: true }).catch(() => undefined);
    return { ok: false, reason: `the bundle: ${reasonOf(error)}` };
  }
}

/** A bundle that was put in place before; undefined when it is not there whole any more. */
export async function findPlaced(
  directory: string,
  pin: string,
): Promise<PlacedBundle | undefined> {
  const place = placeIn(directory, pin);
  const sums = await readManifest(place);
  return sums !== undefined && (await isIntact(place, sums)) ? layoutOf(place, sums) : undefined;
}

function placeIn(directory: string, pin: string): string {
  return path.join(directory, pin.slice(0, 16));
}

async function copyInto(target: string, bundle: string, pin: string): Promise<Sums> {
  const whole = createHash('sha256');
  const isDirectory = (await stat(bundle)).isDirectory();
  const sums: Sums = {};
  const source = isDirectory ? walk(bundle, whole) : unpack(bundle, whole);
  for await (const entry of source) {
    const place = placeOf(entry.path);
    if (place === undefined) {
      // Read all the same: a directory's pin covers every file of it.
      if (entry.isFile) for await (const chunk of entry.body) void chunk;
      continue;
    }
    if (!entry.isFile) throw new Error(`${entry.path} in it is no plain file`);
    if (Object.hasOwn(sums, place)) throw new Error(`it holds ${place} twice`);
    sums[place] = await writeBody(path.join(target, place), entry.body, isProgram(place));
  }
  const found = whole.digest('hex');
  if (found !== pin) throw new Error(`its SHA-256 is ${found}, another one is pinned`);
  if (!Object.hasOwn(sums, PROGRAM)) throw new Error('there is no bin/tetragon in it');
  if (!Object.keys(sums).some((one) => one.endsWith('.o'))) {
    throw new Error('there are no BPF objects in it');
  }
  return sums;
}

/** Where a file of the bundle goes; undefined for one that is not needed. Throws on a path that leaves the bundle. */
function placeOf(given: string): string | undefined {
  const parts = given.split('/').filter((part) => part !== '' && part !== '.');
  if (given.startsWith('/') || given.includes('\0') || parts.includes('..')) {
    throw new Error(`a path in it leaves it: ${given.slice(0, 128)}`);
  }
  const clean = parts.join('/');
  if (/^(?:.*\/)?bin\/tetragon$/.test(clean)) return PROGRAM;
  if (/^(?:.*\/)?(?:bin|lib\/tetragon)\/bpftool$/.test(clean)) return MAP_READER;
  const object = /^(?:.*\/)?lib\/tetragon\/(?:bpf\/)?([A-Za-z0-9._-]+\.(?:o|btf))$/.exec(
    clean,
  )?.[1];
  return object === undefined ? undefined : `bpf/${object}`;
}

async function* unpack(bundle: string, whole: Hash): AsyncGenerator<TarEntry> {
  const file = createReadStream(bundle)[Symbol.asyncIterator]();
  const first: IteratorResult<Buffer> = await file.next();
  let bytes = 0;
  async function* hashed(): AsyncGenerator<Buffer> {
    for (let next = first; next.done !== true; next = await file.next()) {
      bytes += next.value.byteLength;
      if (bytes > TETRAGON_BUNDLE_BYTES_MAX) throw new Error('it is too large');
      whole.update(next.value);
      yield next.value;
    }
  }
  const raw = hashed();
  const isGzip = first.value?.[0] === 0x1f && first.value[1] === 0x8b;
  try {
    if (isGzip) {
      const { Readable } = await import('node:stream');
      yield* readTar(
        Readable.from(raw)
          .on('error', () => undefined)
          .pipe(createGunzip()),
      );
    } else yield* readTar(raw);
    for await (const chunk of raw) void chunk;
  } finally {
    await file.return?.();
  }
}

async function* walk(bundle: string, whole: Hash): AsyncGenerator<TarEntry> {
  const found = await readdir(bundle, { recursive: true, withFileTypes: true });
  if (found.length > TETRAGON_BUNDLE_ENTRIES_MAX) throw new Error('it has too many files');
  const files = found
    .filter((one) => !one.isDirectory())
    .map((one) => ({
      name: path.relative(bundle, path.join(one.parentPath, one.name)),
      isFile: one.isFile(),
    }))
    .sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  let bytes = 0;
  for (const { name, isFile } of files) {
    async function* body(): AsyncGenerator<Uint8Array> {
      const sum = createHash('sha256');
      for await (const chunk of createReadStream(path.join(bundle, name))) {
        bytes += chunk.byteLength;
        if (bytes > TETRAGON_BUNDLE_BYTES_MAX) throw new Error('it is too large');
        sum.update(chunk);
        yield chunk;
      }
      whole.update(`${sum.digest('hex')}  ${name}\n`);
    }
    yield { path: name, isFile, body: isFile ? body() : nothing() };
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function writeBody(
  place: string,
  body: AsyncIterable<Uint8Array>,
  isProgramFile: boolean,
): Promise<string> {
  await mkdir(path.dirname(place), { recursive: true, mode: 0o700 });
  const sum = createHash('sha256');
  const handle = await open(place, 'wx', isProgramFile ? 0o700 : 0o600);
  try {
    for await (const chunk of body) {
      sum.update(chunk);
      await handle.writeFile(chunk);
    }
  } finally {
    await handle.close();
  }
  return sum.digest('hex');
}

async function readManifest(place: string): Promise<Sums | undefined> {
  const text = await readFile(path.join(place, MANIFEST), 'utf8').catch(() => '');
  const parsed = parseJson(text);
  if (!parsed.ok || typeof parsed.value !== 'object' || parsed.value === null) return undefined;
  return Object.fromEntries(
    Object.entries(parsed.value).filter(
      (one): one is [string, string] => typeof one[1] === 'string',
    ),
  );
}

async function isIntact(place: string, sums: Sums): Promise<boolean> {
  for (const [name, sum] of Object.entries(sums)) {
    const found = createHash('sha256');
    try {
      for await (const chunk of createReadStream(path.join(place, name))) found.update(chunk);
    } catch {
      return false;
    }
    if (found.digest('hex') !== sum) return false;
  }
  return Object.hasOwn(sums, PROGRAM);
}

function layoutOf(place: string, sums: Sums): PlacedBundle {
  return {
    program: path.join(place, PROGRAM),
    bpfLib: path.join(place, 'bpf'),
    mapReader: Object.hasOwn(sums, MAP_READER) ? path.join(place, MAP_READER) : undefined,
  };
}

function isProgram(place: string): boolean {
  return place.startsWith('bin/');
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
