// The Console's configuration: console.yaml in the data directory, overridden by the environment, parsed once, every
// mistake reported together, then frozen. Nobody else reads the environment. decision: D20
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Compile } from 'typebox/compile';
import { parse as parseYaml } from 'yaml';
import { resolveIntervals } from '../../machines/intervals.ts';
import type { Intervals } from '../../machines/limits.ts';
import { convertVariable, FileSettings, HAS_QUEUE_SINK, VARIABLES } from './settings.ts';
import { mistakeOfTransport, plaintextStores, type StoreKind } from './store-transport.ts';

const DEFAULT_PORT = 15_483;
const FILE_BYTES_MAX = 262_144;
const FILE_NAME = 'console.yaml';

export type ConsoleConfig = {
  readonly dataDir: string;
  readonly port: number;
  readonly bind: string;
  /** Where sensors and people reach this Console. */
  readonly baseUrl: string;
  /** Null = the embedded store. */
  readonly databaseUrl: string | null;
  readonly clickhouseUrl: string | null;
  /** Where replicas share their request budgets; null = each counts by itself. */
  readonly redisUrl: string | null;
  /** Stores beyond this machine that are reached without verified TLS, because somebody said so. */
  readonly plaintextStores: readonly string[];
  readonly backgroundTasks: boolean;
  readonly licenseTrustAnchor: string | null;
  /** Null = generated. */
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string | null } | null;
  readonly mode: 'self_hosted' | 'cloud';
  readonly provisioning: string | null;
  /** Stands above the setting of this name; null = the setting says. */
  readonly policySigning: 'console' | 'offline' | null;
  readonly platform: 'standard' | 'telecom';
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly intervals: Intervals;
};
export type ConfigResult =
  | { readonly ok: true; readonly config: ConsoleConfig }
  | { readonly ok: false; readonly mistakes: readonly string[] };

export type ConfigSource = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isRoot: boolean;
  /** The file's text; null when there is none. Throws when it cannot be read. */
  readonly readFile?: (path: string) => string | null;
};

const settingsCheck = Compile(FileSettings);

/** Where the Console keeps its state. */
export function consoleDataDir(source: Pick<ConfigSource, 'env' | 'isRoot'>): string {
  const { env } = source;
  if (env['SERVICE_CONSOLE_DATA_DIR']) return env['SERVICE_CONSOLE_DATA_DIR'];
  if (source.isRoot) return '/var/lib/service-console';
  const home = env['HOME'] ?? homedir();
  return join(env['XDG_STATE_HOME'] ?? join(home, '.local', 'state'), 'service-console');
}

/** Reads everything, or says all that is wrong. */
export function loadConfig(source: ConfigSource): ConfigResult {
  const dataDir = consoleDataDir(source);
  const mistakes: string[] = [];
  const file = readSettings(join(dataDir, FILE_NAME), source.readFile ?? readOptional, mistakes);
  const merged = overlay(file, source.env);
  for (const mistake of settingsCheck.Check(merged) ? [] : settingsCheck.Errors(merged)) {
    mistakes.push(describe(mistake, source.env));
  }
  const settings = settingsCheck.Check(merged) ? merged : {};
  const intervals = resolveIntervals(settings.intervals ?? {});
  if (!intervals.ok) mistakes.push(...intervals.mistakes);
  mistakes.push(...contradictions(settings));
  if (mistakes.length > 0 || !intervals.ok) return { ok: false, mistakes };
  return { ok: true, config: deepFreeze(configOf(dataDir, settings, intervals.intervals)) };
}

function configOf(dataDir: string, settings: FileSettings, intervals: Intervals): ConsoleConfig {
  const port = settings.port ?? DEFAULT_PORT;
  const { cert, key, ca } = settings.tls ?? {};
  const stores = {
    databaseUrl: settings.database_url ?? null,
    clickhouseUrl: settings.clickhouse_url ?? null,
    redisUrl: settings.redis_url ?? null,
  };
  return {
    dataDir,
    port,
    bind: settings.bind ?? '0.0.0.0',
    baseUrl: (settings.base_url ?? `https://localhost:${port}`).replace(/\/+$/, ''),
    ...stores,
    plaintextStores: plaintextStores(stores),
    backgroundTasks: settings.background_tasks ?? true,
    licenseTrustAnchor: settings.license_trust_anchor ?? null,
    tls: cert === undefined || key === undefined ? null : { cert, key, ca: ca ?? null },
    mode: settings.mode ?? 'self_hosted',
    provisioning: settings.provisioning ?? null,
    policySigning: settings.policy_signing ?? null,
    platform: settings.platform ?? 'standard',
    logLevel: settings.log_level ?? 'info',
    intervals,
  };
}

function readSettings(
  path: string,
  readFile: (path: string) => string | null,
  mistakes: string[],
): Record<string, unknown> {
  try {
    const text = readFile(path);
    if (text === null) return {};
    if (text.length > FILE_BYTES_MAX) throw new Error(`is over ${FILE_BYTES_MAX} bytes`);
    const value: unknown = parseYaml(text, {
      maxAliasCount: 100,
      schema: 'core',
      logLevel: 'error',
    });
    if (value === null || value === undefined) return {};
    if (typeof value !== 'object' || Array.isArray(value)) throw new Error('must be a mapping');
    return { ...value };
  } catch (error) {
    const [reason] = String(error instanceof Error ? error.message : error).split('\n');
    mistakes.push(`${path}: ${reason}`);
    return {};
  }
}

function overlay(file: Record<string, unknown>, env: ConfigSource['env']): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...file };
  for (const [name, [path, kind]] of Object.entries(VARIABLES)) {
    const text = env[name];
    if (text === undefined || text === '') continue;
    const value = convertVariable(text, kind);
    const [head = '', inner] = path.split('.');
    if (inner === undefined) merged[head] = value;
    else {
      const before = merged[head];
      merged[head] = { ...(typeof before === 'object' ? before : {}), [inner]: value };
    }
  }
  return merged;
}

function contradictions(settings: FileSettings): string[] {
  const found: string[] = [];
  const later = 'is not available in this version; leave it unset';
  if (settings.redpanda_url !== undefined && !HAS_QUEUE_SINK) {
    found.push(`SERVICE_CONSOLE_REDPANDA_URL (redpanda_url): the queue sink ${later}`);
  }
  const { cert, key } = settings.tls ?? {};
  if ((cert === undefined) !== (key === undefined)) {
    found.push('SERVICE_CONSOLE_TLS_CERT and SERVICE_CONSOLE_TLS_KEY (tls) need each other');
  }
  if (settings.tls?.ca !== undefined && cert === undefined) {
    found.push('SERVICE_CONSOLE_TLS_CA (tls.ca) needs a certificate and its key');
  }
  if (settings.mode === 'cloud' && settings.provisioning === undefined) {
    found.push('SERVICE_CONSOLE_MODE (mode): cloud needs SERVICE_CONSOLE_PROVISIONING');
  }
  checkUrl(found, 'SERVICE_CONSOLE_BASE_URL (base_url)', settings.base_url, ['https:']);
  checkUrl(found, 'SERVICE_CONSOLE_DATABASE_URL (database_url)', settings.database_url, [
    'postgres:',
    'postgresql:',
  ]);
  checkUrl(found, 'SERVICE_CONSOLE_CLICKHOUSE_URL (clickhouse_url)', settings.clickhouse_url, [
    'http:',
    'https:',
  ]);
  checkUrl(found, 'SERVICE_CONSOLE_REDIS_URL (redis_url)', settings.redis_url, [
    'redis:',
    'rediss:',
  ]);
  if (settings.allow_plaintext_stores !== true) found.push(...unprotected(settings));
  return found;
}

function unprotected(settings: FileSettings): readonly string[] {
  const stores: readonly (readonly [StoreKind, string, string | undefined])[] = [
    ['database', 'SERVICE_CONSOLE_DATABASE_URL (database_url)', settings.database_url],
    ['analytics', 'SERVICE_CONSOLE_CLICKHOUSE_URL (clickhouse_url)', settings.clickhouse_url],
    ['redis', 'SERVICE_CONSOLE_REDIS_URL (redis_url)', settings.redis_url],
  ];
  return stores.flatMap(([kind, name, url]) => {
    const mistake = url === undefined ? null : mistakeOfTransport(kind, url);
    return mistake === null ? [] : [`${name}: ${mistake}`];
  });
}

// The value itself is not repeated: a database URL holds a password.
function checkUrl(
  found: string[],
  name: string,
  text: string | undefined,
  protocols: readonly string[],
): void {
  if (text === undefined) return;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !protocols.includes(url.protocol)) {
    found.push(`${name}: must be a URL of ${protocols.map((one) => `${one}//`).join(' or ')}`);
  }
}

type SchemaMistake = {
  readonly instancePath: string;
  readonly message: string;
  readonly params?: unknown;
};

function describe({ instancePath, message, params }: SchemaMistake, env: ConfigSource['env']) {
  const path = instancePath.slice(1).replaceAll('/', '.');
  const unknown = (params as { additionalProperties?: readonly string[] } | undefined)
    ?.additionalProperties;
  if (unknown !== undefined) {
    const names = unknown.map((name) => (path === '' ? name : `${path}.${name}`));
    return `${FILE_NAME}: ${names.join(', ')}: there is no such setting`;
  }
  const variable = Object.entries(VARIABLES).find(
    ([name, [one]]) => one === path && env[name] !== undefined && env[name] !== '',
  );
  return `${variable?.[0] ?? `${FILE_NAME}: ${path}`}: ${message}`;
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner);
  }
  return Object.freeze(value);
}

function readOptional(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
