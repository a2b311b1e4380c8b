// The engine in C that this program carries, built for x86-64 Linux. It is used only when its bytes are those that were
// committed and the kernel takes its programs, which it is asked before anything relies on it.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { parseJson } from '../../machines/wire/parse.ts';
import { type EngineFile, sumOf } from './unpack.ts';

export const EBPF_ENGINE_FILE = 'ebpf-engine';
const BUILT = 'ebpf-engine-x86_64';
const PROBE_TIMEOUT_MS = 8_000;
const WORDS_MAX_CHARS = 4_096;

export type EbpfFile =
  | { readonly ok: true; readonly file: EngineFile }
  | { readonly ok: false; readonly reason: string };

/** What has to fit together: the program and its sum. */
export function ebpfSources(directory: URL): readonly URL[] {
  return [new URL(BUILT, directory), new URL(`${BUILT}.sha256`, directory)];
}

/** The program, when this machine can run it and it is the one that was committed. Never rejects. */
export async function ebpfEngineFile(
  directory: URL = new URL('./native/', import.meta.url),
): Promise<EbpfFile> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return { ok: false, reason: `it is built for x86-64 Linux, this is ${process.arch}` };
  }
  try {
    const content = await readFile(new URL(BUILT, directory));
    const committed = await readFile(new URL(`${BUILT}.sha256`, directory), 'utf8');
    if (!committed.startsWith(`${sumOf(content)} `)) {
      return { ok: false, reason: 'its program is not the one that was committed (SHA-256)' };
    }
    return { ok: true, file: { name: EBPF_ENGINE_FILE, content, isProgram: true } };
  } catch (error) {
    return { ok: false, reason: `it cannot be read: ${String(error)}` };
  }
}

/** Asks the program whether the kernel takes what it would load; attaches nothing. Undefined = it does. Never rejects. */
export async function whyNoEbpf(program: string): Promise<string | undefined> {
  return await new Promise((resolve) => {
    const child = spawn(program, ['--probe'], { stdio: ['ignore', 'ignore', 'pipe'], env: {} });
    const timer = setTimeout(() => child.kill('SIGKILL'), PROBE_TIMEOUT_MS);
    let words = '';
    child.stderr.on('data', (text: Buffer) => {
      words = (words + text.toString()).slice(0, WORDS_MAX_CHARS);
    });
    child.on('error', (error) => {
      clearTimeout(timer);
      resolve(`it does not start: ${error.message}`);
    });
    child.on('close', (code, killed) => {
      clearTimeout(timer);
      resolve(code === 0 ? undefined : (reasonIn(words) ?? `it ended with ${killed ?? code}`));
    });
  });
}

function reasonIn(words: string): string | undefined {
  const parsed = parseJson(words.split('\n')[0] ?? '');
  const value: unknown = parsed.ok ? parsed.value : undefined;
  const reason = typeof value === 'object' && value !== null ? Reflect.get(value, 'reason') : '';
  return typeof reason === 'string' && reason !== '' ? reason : undefined;
}
