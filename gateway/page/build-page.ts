// `npm run build:web [FOLDER]`: builds the page with Vite into a folder named by its sources, with every file compressed
// beforehand. Built beside and moved into place, so that nobody ever reads half a page, and two builds do not disturb
// each other.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { build } from 'vite';
import { ASSETS_FOLDER } from './page-files.ts';
import { NONCE_MARK } from './page-policy.ts';
import { DIST, hashOfSources, WEB } from './page-sources.ts';

const WORTH_COMPRESSING_BYTES = 512;
const BEGUN = '.begun-';

async function buildPage(target: string): Promise<void> {
  const name = hashOfSources();
  const folder = join(target, name);
  if (existsSync(folder)) return;
  const beside = join(target, `${BEGUN}${process.pid}`);
  mkdirSync(beside, { recursive: true });
  try {
    await runVite(beside);
    compress(join(beside, ASSETS_FOLDER));
    moveInto(beside, folder);
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
  for (const other of readdirSync(target)) {
    if (other !== name && !other.startsWith(BEGUN)) {
      rmSync(join(target, other), { recursive: true, force: true });
    }
  }
}

async function runVite(outDir: string): Promise<void> {
  // Vite goes by it before its own mode: whoever builds from a test would get React's development build, with paths in it.
  process.env['NODE_ENV'] = 'production';
  await build({
    mode: 'production',
    root: WEB,
    configFile: false,
    logLevel: 'error',
    html: { cspNonce: NONCE_MARK },
    worker: { format: 'es' },
    build: {
      outDir,
      emptyOutDir: true,
      assetsDir: ASSETS_FOLDER,
      assetsInlineLimit: 0,
      target: 'es2023',
      modulePreload: { polyfill: false },
      chunkSizeWarningLimit: 2_000,
    },
  });
}

function compress(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const plain = readFileSync(path);
    if (plain.length < WORTH_COMPRESSING_BYTES) continue;
    writeFileSync(
      `${path}.br`,
      brotliCompressSync(plain, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
          [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
        },
      }),
    );
    writeFileSync(`${path}.gz`, gzipSync(plain, { level: constants.Z_BEST_COMPRESSION }));
    writeFileSync(`${path}.zst`, zstdCompressSync(plain));
  }
}

// Somebody else may have built the same page meanwhile; theirs is as good.
function moveInto(beside: string, folder: string): void {
  try {
    renameSync(beside, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}

await buildPage(process.argv[2] ?? DIST);
