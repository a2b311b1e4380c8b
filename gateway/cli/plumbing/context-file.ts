// Which Console the commands talk to: `~/.config/service/config.yaml` (mode 0600, it holds a key), overridden by the
// environment. decision: D17
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { parse, stringify } from 'yaml';
import { CommandFailure, EXIT } from './exit.ts';

const Context = Type.Object({
  url: Type.String(),
  token: Type.String(),
  /** Names the key to the Console; absent where nobody noted it. */
  key_id: Type.Optional(Type.String()),
  ca_pem: Type.Optional(Type.String()),
  ca_file: Type.Optional(Type.String()),
});
const ContextFile = Type.Object({
  current: Type.String(),
  contexts: Type.Record(Type.String(), Context),
});
export type Context = Type.Static<typeof Context>;
export type ContextFile = Type.Static<typeof ContextFile>;
export type Env = Readonly<Record<string, string | undefined>>;

/** Where to reach a Console, and what to trust. */
export type Connection = {
  readonly url: string;
  readonly token: string;
  /** Null = the system's own roots. */
  readonly ca: string | null;
};

const check = Compile(ContextFile);

/** The file's place. */
export function contextFilePath(env: Env): string {
  const config = env['XDG_CONFIG_HOME'] ?? join(env['HOME'] ?? homedir(), '.config');
  return join(config, 'service', 'config.yaml');
}

/** Adds or replaces a context and makes it the current one; the file appears whole or not at all. */
export function saveContext(env: Env, name: string, context: Context): string {
  const path = contextFilePath(env);
  const before = readContextFile(path) ?? { current: name, contexts: {} };
  return writeContextFile(path, {
    current: name,
    contexts: { ...before.contexts, [name]: context },
  });
}

/** The context the commands use now, with its name; null when there is none. */
export function currentContext(
  env: Env,
): { readonly name: string; readonly context: Context } | null {
  const file = readContextFile(contextFilePath(env));
  const context = file?.contexts[file.current];
  return file === null || context === undefined ? null : { name: file.current, context };
}

/** One context by its name; null when there is none. */
export function contextNamed(env: Env, name: string): Context | null {
  return readContextFile(contextFilePath(env))?.contexts[name] ?? null;
}

/** Takes a context away; another one becomes the current one, when there is another. */
export function removeContext(env: Env, name: string): void {
  const path = contextFilePath(env);
  const before = readContextFile(path);
  if (before === null) return;
  const contexts = { ...before.contexts };
  delete contexts[name];
  const current = before.current === name ? (Object.keys(contexts)[0] ?? '') : before.current;
  writeContextFile(path, { current, contexts });
}

function writeContextFile(path: string, file: ContextFile): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, stringify(file), { mode: 0o600 });
  renameSync(temporary, path);
  return path;
}

/** The connection that environment and file name together. */
export function resolveConnection(env: Env): Connection {
  const path = contextFilePath(env);
  const file = readContextFile(path);
  const context = file?.contexts[file.current];
  const url = env['SERVICE_CONSOLE_URL'] ?? context?.url;
  const token = env['SERVICE_TOKEN'] ?? context?.token;
  if (url === undefined) {
    throw new CommandFailure(
      EXIT.usage,
      `no Console is known: ${path} has no current context and SERVICE_CONSOLE_URL is not set`,
      'service-console login, or start one here: service-console quickstart',
    );
  }
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:') {
    throw new CommandFailure(EXIT.usage, `the Console address ${url} is not an https:// URL`);
  }
  if (token === undefined || token === '') {
    throw new CommandFailure(
      EXIT.notAuthenticated,
      'there is no API key for this Console',
      'service-console login, or set SERVICE_TOKEN',
    );
  }
  return { url: url.replace(/\/+$/, ''), token, ca: caOf(env, context) };
}

function caOf(env: Env, context: Context | undefined): string | null {
  const file = env['SERVICE_CONSOLE_CA'] ?? context?.ca_file;
  if (file === undefined) return context?.ca_pem ?? null;
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new CommandFailure(EXIT.usage, `the CA file ${file} cannot be read`);
  }
}

function readContextFile(path: string): ContextFile | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new CommandFailure(EXIT.usage, `${path} cannot be read`);
  }
  const value: unknown = parseQuietly(text);
  if (check.Check(value)) return value;
  throw new CommandFailure(EXIT.usage, `${path} is not a context file`, 'move it away');
}

function parseQuietly(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 10 });
  } catch {
    return null;
  }
}
