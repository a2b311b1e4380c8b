// The Sensor's configuration: sensor.yaml in the state directory, then the environment over it; parsed once, every
// mistake reported together, frozen. Only main and the commands read the environment. decision: D20

import { readFile } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { resolveIntervals } from '../../machines/intervals.ts';
import type { Intervals } from '../../machines/limits.ts';
import { EnrollRequest } from '../../machines/wire/enrollment.ts';
import { parserOfValue } from '../../machines/wire/parse.ts';
import { NODE_NAME_PATTERN } from '../../machines/wire/scalars.ts';
import {
  choiceIn,
  type Environment,
  type Given,
  type SensorSetting,
  urlOf,
  type Values,
} from './setting.ts';
import * as SETTINGS from './settings.ts';

/** What the node itself needs. */
type OwnConfig = {
  readonly stateDir: string;
  readonly consoleUrl: URL | null;
  readonly nodeName: string;
  readonly flavor: 'standard' | 'telecom';
  readonly declaredRole: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly logLevel: string;
  readonly proxyUrl: URL | null;
  readonly caFingerprint: string | null;
  readonly caFile: string | null;
  readonly intervals: Intervals;
};
/** What capabilities declare, by the names of `settings.ts`. */
type Declared = {
  readonly [Name in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Name]['read']>;
};
export type SensorConfig = OwnConfig & Declared;
export type ConfigResult =
  | { readonly ok: true; readonly config: SensorConfig }
  | { readonly ok: false; readonly mistakes: readonly string[] };

const DECLARED: readonly SensorSetting<unknown>[] = Object.values(SETTINGS);
const KEYS = [
  'console_url',
  'node_name',
  'flavor',
  'declared_role',
  'labels',
  'log_level',
  'proxy_url',
  'ca_fingerprint',
  'ca_file',
  'intervals',
  ...DECLARED.flatMap(({ keys }) => keys),
];
const checkRole = parserOfValue(EnrollRequest.properties.declared_role);
const checkLabels = parserOfValue(EnrollRequest.properties.labels);
const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

/** Where the state lives: the variable, else the system's place for root, else the user's. */
export function stateDirOf(env: Environment): string {
  const asked = env['SERVICE_SENSOR_STATE_DIR'];
  if (asked !== undefined && asked !== '') return asked;
  if (process.getuid?.() === 0) return '/var/lib/service-sensor';
  return join(env['XDG_STATE_HOME'] ?? join(homedir(), '.local', 'state'), 'service-sensor');
}

/** Reads file, environment and command line, in rising order of precedence. */
export async function loadConfig(env: Environment, flags: Values = {}): Promise<ConfigResult> {
  const stateDir = stateDirOf(env);
  const text = await readFile(join(stateDir, 'sensor.yaml'), 'utf8').catch(() => '');
  const mistakes: string[] = [];
  const file = await parseYaml(text, mistakes);
  for (const key of Object.keys(file)) {
    if (!KEYS.includes(key)) mistakes.push(`${key}: there is no such setting`);
  }
  const values: Values = { ...file, ...fromEnvironment(env), ...withoutAbsent(flags) };
  const config = resolve(stateDir, values, mistakes);
  return mistakes.length > 0
    ? { ok: false, mistakes }
    : { ok: true, config: Object.freeze(config) };
}

async function parseYaml(text: string, mistakes: string[]): Promise<Values> {
  if (text.trim() === '') return {};
  try {
    const { parse } = await import('yaml');
    const value: unknown = parse(text, { maxAliasCount: 0, logLevel: 'error' });
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Values;
    mistakes.push('sensor.yaml: must be a mapping');
  } catch (error) {
    mistakes.push(`sensor.yaml: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
  return {};
}

function fromEnvironment(env: Environment): Values {
  return withoutAbsent({
    console_url: env['SERVICE_SENSOR_CONSOLE_URL'],
    log_level: env['SERVICE_LOG_LEVEL'],
    proxy_url: env['HTTPS_PROXY'] ?? env['https_proxy'],
    ...Object.assign({}, ...DECLARED.map(({ environment }) => environment?.(env))),
  });
}

function withoutAbsent(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== ''),
  );
}

function resolve(stateDir: string, values: Values, mistakes: string[]): SensorConfig {
  const text = (key: string): string | null => {
    const value = values[key];
    if (value === undefined || typeof value === 'string') return value ?? null;
    mistakes.push(`${key}: must be text`);
    return null;
  };
  const nodeName = text('node_name') ?? fitNodeName(hostname());
  if (!new RegExp(NODE_NAME_PATTERN).test(nodeName)) {
    mistakes.push('node_name: 1 to 64 letters, digits, dots, dashes or underscores');
  }
  const overrides = values['intervals'] ?? {};
  const isMapping = typeof overrides === 'object' && !Array.isArray(overrides);
  if (!isMapping) mistakes.push('intervals: must be a mapping');
  const intervals = resolveIntervals(isMapping ? (overrides as Values) : {});
  if (!intervals.ok) mistakes.push(...intervals.mistakes);
  const given = { values, nodeName, mistakes };
  // The Console would refuse them at enrollment, when nobody looks any more.
  const declaredRole = text('declared_role');
  if (declaredRole !== null && !checkRole(declaredRole).ok)
    mistakes.push('declared_role: too long');
  const labels = labelsOf(values['labels'], mistakes);
  if (!checkLabels(labels).ok)
    mistakes.push('labels: names of 64 characters, texts of 256 at most');
  const defaults = resolveIntervals();
  if (!defaults.ok) throw new Error('the defaults are broken');
  return {
    stateDir,
    consoleUrl: urlOf('console_url', text('console_url'), ['https:'], mistakes),
    nodeName,
    flavor: choiceIn(given, 'flavor', ['standard', 'telecom'], 'standard'),
    declaredRole,
    labels,
    ...readDeclared(given),
    logLevel: choiceIn(given, 'log_level', LEVELS, 'info'),
    proxyUrl: urlOf('proxy_url', text('proxy_url'), ['http:'], mistakes),
    caFingerprint: text('ca_fingerprint'),
    caFile: text('ca_file'),
    intervals: intervals.ok ? intervals.intervals : defaults.intervals,
  };
}

function readDeclared(given: Given): Declared {
  const read = Object.entries(SETTINGS).map(([name, one]) => [name, one.read(given)]);
  return Object.fromEntries(read);
}

/** What capabilities declare, where nothing is given. */
export function declaredDefaults(nodeName: string): Declared {
  const mistakes: string[] = [];
  const declared = readDeclared({ values: {}, nodeName, mistakes });
  if (mistakes.length > 0) throw new Error(`the defaults are broken: ${mistakes.join('; ')}`);
  return declared;
}

function labelsOf(value: unknown, mistakes: string[]): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {};
  const isMapping = typeof value === 'object' && !Array.isArray(value);
  const entries = isMapping ? Object.entries(value) : [];
  const labels = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  if (!isMapping || labels.length !== entries.length || labels.length > 32) {
    mistakes.push('labels: at most 32 names with text');
  }
  return Object.fromEntries(labels);
}

function fitNodeName(name: string): string {
  const fitted = name.replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, 64);
  return fitted.replace(/^[^A-Za-z0-9]+/, '').replace(/[^A-Za-z0-9]+$/, '') || 'node';
}
