// Finds the built page at a start, and has it built when what is there is missing or older than its sources. A Console
// without the tools to build serves what it has; one that has nothing serves the plain text page. decision: D54
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type PageFiles, readPage } from './page-files.ts';
import { DIST, hashOfSources, WEB } from './page-sources.ts';

const SOURCES_BEGIN = join(WEB, 'main.tsx');

export type PageOptions = {
  /** Where to build when the checkout cannot be written. */
  readonly dataDir: string;
  /** Gets one line when something takes time or failed. */
  readonly tell: (line: string) => void;
  /** Aborts when nobody waits for the page any more. */
  readonly givenUp?: AbortSignal | undefined;
};

/** The page, built first when need be; null when there is none to be had. */
export async function findPage({ dataDir, tell, givenUp }: PageOptions): Promise<PageFiles | null> {
  // A package holds the page that was built of its sources, and none of those.
  if (!existsSync(SOURCES_BEGIN)) return readNewest([DIST]);
  const places = [DIST, join(dataDir, 'page')];
  const wanted = hashOfSources();
  const built = places.map((place) => join(place, wanted)).find((folder) => existsSync(folder));
  if (built !== undefined) return readPage(built);
  const place = places.find(isWritable);
  if (place !== undefined && canBuild()) {
    tell('Building the web page (once)...');
    const failure = await runBuild(place, givenUp);
    if (failure === null && existsSync(join(place, wanted))) return readPage(join(place, wanted));
    if (givenUp?.aborted === true) return null;
    tell(`The web page could not be built: ${failure ?? 'its sources changed meanwhile'}`);
  }
  return readNewest(places);
}

function readNewest(places: readonly string[]): PageFiles | null {
  const found = places.flatMap(buildsIn)[0];
  return found === undefined ? null : readPage(found);
}

function canBuild(): boolean {
  try {
    createRequire(import.meta.url).resolve('vite/package.json');
    return true;
  } catch {
    return false;
  }
}

function isWritable(place: string): boolean {
  try {
    mkdirSync(place, { recursive: true });
    accessSync(place, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function buildsIn(place: string): string[] {
  if (!existsSync(place)) return [];
  return readdirSync(place)
    .map((name) => join(place, name))
    .filter((folder) => existsSync(join(folder, 'index.html')));
}

/** Null when it went well, otherwise the last words of the build. In a process of its own: it takes seconds of a core. */
function runBuild(place: string, signal: AbortSignal | undefined): Promise<string | null> {
  return new Promise((resolve) => {
    const script = join(import.meta.dirname, 'build-page.ts');
    const stdio: ['ignore', 'ignore', 'pipe'] = ['ignore', 'ignore', 'pipe'];
    const child = spawn(process.execPath, [script, place], { stdio, signal });
    let said = '';
    child.stderr?.on('data', (data: Buffer) => {
      said = `${said}${data.toString()}`.slice(-2_000);
    });
    child.on('error', (error) => resolve(String(error)));
    child.on('exit', (code) => resolve(code === 0 ? null : said.trim() || `exit code ${code}`));
  });
}
