// The built page in memory: the document, and its files by name, each as it was compressed when it was built.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NONCE_MARK } from './page-policy.ts';

/** What browsers say they read, best first, with the ending of the file that was made for it. */
export const ENCODINGS = [
  ['br', '.br'],
  ['zstd', '.zst'],
  ['gzip', '.gz'],
] as const;
export const ASSETS_FOLDER = 'assets';

export type PageAsset = {
  readonly contentType: string;
  readonly plain: Buffer;
  /** By the name of the encoding; only what is smaller. */
  readonly encoded: ReadonlyMap<string, Buffer>;
};
export type PageFiles = {
  /** The document with a nonce in its places. */
  document(nonce: string): string;
  /** By path, `/assets/NAME`. */
  asset(path: string): PageAsset | undefined;
};

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json',
  txt: 'text/plain; charset=utf-8',
};

/** Reads a built page; throws when the folder holds none. */
export function readPage(folder: string): PageFiles {
  const parts = readFileSync(join(folder, 'index.html'), 'utf8').split(NONCE_MARK);
  const assets = new Map<string, PageAsset>();
  const endings = ENCODINGS.map(([, ending]) => ending as string);
  for (const name of readdirSync(join(folder, ASSETS_FOLDER))) {
    if (endings.some((ending) => name.endsWith(ending))) continue;
    assets.set(`/${ASSETS_FOLDER}/${name}`, readAsset(join(folder, ASSETS_FOLDER, name)));
  }
  return { document: (nonce) => parts.join(nonce), asset: (path) => assets.get(path) };
}

function readAsset(path: string): PageAsset {
  const encoded = ENCODINGS.flatMap(([encoding, ending]) =>
    existsSync(path + ending) ? [[encoding, readFileSync(path + ending)] as const] : [],
  );
  return {
    contentType: CONTENT_TYPES[path.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
    plain: readFileSync(path),
    encoded: new Map(encoded),
  };
}
