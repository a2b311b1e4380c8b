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
import type { ImageSources } from '../telemetry/images/images.ts';
import type { KubernetesAccess } from '../telemetry/kubernetes-lists.ts';
import { type EbpfConfig, ebpfConfigOf } from './ebpf-config.ts';

export type SensorConfig = {
  readonly stateDir: string;
  readonly consoleUrl: URL | null;
  readonly nodeName: string;
  readonly flavor: 'standard' | 'telecom';
  readonly declaredRole: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly engine: 'auto' | 'tetragon' | 'ebpf' | 'procfs';
  /** The bundle of a Tetragon and what it must be; nulls = there is none. */
  readonly tetragon: TetragonConfig;
  readonly ebpf: EbpfConfig;
  /** Policies that somebody laid by hand need a signature, too. */
  readonly strictPolicies: boolean;
  /** How a Sensor inside a cluster asks which workload a container belongs to; null outside of one. */
  readonly kubernetes: KubernetesAccess | null;
  /** Where container runtimes are asked for their images; null: not asked. */
  readonly images: ImageSources;
  readonly logLevel: string;
  readonly proxyUrl: URL | null;
  readonly caFingerprint: string | null;
  readonly caFile: string | null;
  readonly intervals: Intervals;
};
type TetragonConfig = {
  readonly bundle: string | null;
  readonly sha256: string | null;
  readonly metricsAddress: string | null;
};
export type ConfigResult =
  | { readonly ok: true; readonly config: SensorConfig }
  | { readonly ok: false; readonly mistakes: readonly string[] };
type Environment = Readonly<Record<string, string | undefined>>;
type Values = Readonly<Record<string, unknown>>;

const KEYS = [
  'console_url',
  'node_name',
  'flavor',
  'declared_role',
  'labels',
  'engine',
  'tetragon',
  'ebpf',
  'policies',
  'log_level',
  'proxy_url',
  'ca_fingerprint',
  'ca_file',
  'intervals',
  'kubernetes_api_url',
  'kubernetes_kubelet_url',
  'kubernetes_node_name',
  'kubernetes_token_file',
  'kubernetes_ca_file',
  'kubernetes_kubelet_ca_file',
  'docker_socket',
  'containerd_socket',
  'containers_storage',
];
const ENGINES = ['auto', 'tetragon', 'ebpf', 'procfs'] as const;
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
    engine: env['SERVICE_SENSOR_ENGINE'],
    tetragon_bundle: env['SERVICE_SENSOR_TETRAGON_BUNDLE'],
    tetragon_sha256: env['SERVICE_SENSOR_TETRAGON_SHA256'],
    log_level: env['SERVICE_LOG_LEVEL'],
    proxy_url: env['HTTPS_PROXY'] ?? env['https_proxy'],
    kubernetes_api_url: apiUrlOf(env),
    kubernetes_node_name: env['NODE_NAME'],
  });
}

/** Where a cluster tells its pods the API server is. */
function apiUrlOf(env: Environment): string | undefined {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443';
  if (host === undefined || host === '') return undefined;
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function withoutAbsent(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== ''),
  );
}

function resolve(stateDir: string, values: Values, mistakes: string[]): SensorConfig {
  const choice = <T extends string>(key: string, allowed: readonly T[], fallback: T): T => {
    const value = values[key] ?? fallback;
    const found = allowed.find((one) => one === value);
    if (found === undefined) mistakes.push(`${key}: must be one of ${allowed.join(', ')}`);
    return found ?? fallback;
  };
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
    flavor: choice('flavor', ['standard', 'telecom'], 'standard'),
    declaredRole,
    labels,
    engine: choice('engine', ENGINES, 'auto'),
    tetragon: tetragonOf(values, mistakes),
    ebpf: ebpfConfigOf(values['ebpf'], mistakes),
    strictPolicies: isStrict(values['policies'], mistakes),
    kubernetes: kubernetesOf(values, nodeName, mistakes),
    images: imagesOf(values, mistakes),
    logLevel: choice('log_level', LEVELS, 'info'),
    proxyUrl: urlOf('proxy_url', text('proxy_url'), ['http:'], mistakes),
    caFingerprint: text('ca_fingerprint'),
    caFile: text('ca_file'),
    intervals: intervals.ok ? intervals.intervals : defaults.intervals,
  };
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

function kubernetesOf(
  values: Values,
  nodeName: string,
  mistakes: string[],
): KubernetesAccess | null {
  const text = (key: string, fallback: string): string => {
    const value = values[key] ?? fallback;
    if (typeof value === 'string') return value;
    mistakes.push(`${key}: must be text`);
    return fallback;
  };
  // The token goes to both: never in the clear to another machine.
  const url = (key: string): URL | null => {
    const given = urlOf(key, text(key, '') || null, ['https:', 'http:'], mistakes);
    const isOpen = given?.protocol === 'http:' && !LOOPBACK.test(given.hostname);
    if (isOpen) mistakes.push(`${key}: must be https`);
    return given;
  };
  const apiUrl = url('kubernetes_api_url');
  const kubeletUrl = url('kubernetes_kubelet_url');
  if (apiUrl === null) return null;
  const caFile = text('kubernetes_ca_file', `${SERVICE_ACCOUNT}/ca.crt`);
  return {
    apiUrl,
    kubeletUrl,
    tokenFile: text('kubernetes_token_file', `${SERVICE_ACCOUNT}/token`),
    caFile,
    kubeletCaFile: text('kubernetes_kubelet_ca_file', caFile),
    nodeName: text('kubernetes_node_name', nodeName),
  };
}

/** `off` keeps a runtime from being asked. */
function imagesOf(values: Values, mistakes: string[]): ImageSources {
  const place = (key: string, fallback: string): string | null => {
    const value = values[key] ?? fallback;
    if (value === 'off' || value === false) return null;
    if (typeof value === 'string' && value.startsWith('/')) return value;
    mistakes.push(`${key}: must be an absolute path, or off`);
    return null;
  };
  return {
    docker: place('docker_socket', '/run/docker.sock'),
    containerd: place('containerd_socket', '/run/containerd/containerd.sock'),
    storage: place('containers_storage', '/var/lib/containers/storage'),
  };
}

function urlOf(
  key: string,
  text: string | null,
  protocols: string[],
  mistakes: string[],
): URL | null {
  if (text === null) return null;
  const url = URL.parse(text);
  if (url !== null && protocols.includes(url.protocol)) return url;
  mistakes.push(`${key}: must be an address that begins with ${protocols.join(' or ')}//`);
  return null;
}

/** The `tetragon:` mapping of the file, under the two variables of the environment. */
function tetragonOf(values: Values, mistakes: string[]): TetragonConfig {
  const given = values['tetragon'] ?? {};
  const isMapping = typeof given === 'object' && !Array.isArray(given);
  if (!isMapping) mistakes.push('tetragon: must be a mapping');
  const mapping: Values = isMapping ? (given as Values) : {};
  for (const key of Object.keys(mapping)) {
    const isKnown = ['bundle', 'sha256', 'metrics_address'].includes(key);
    if (!isKnown) mistakes.push(`tetragon.${key}: there is no such setting`);
  }
  const text = (key: string, fits: RegExp, what: string): string | null => {
    const value = values[`tetragon_${key}`] ?? mapping[key];
    if (value === undefined) return null;
    if (typeof value === 'string' && fits.test(value)) return value;
    mistakes.push(`tetragon.${key}: must be ${what}`);
    return null;
  };
  return {
    bundle: text('bundle', /^\//, 'an absolute path'),
    sha256: text('sha256', /^[0-9a-f]{64}$/, '64 hex digits'),
    // Its metrics tell what runs on the node; they stay on it.
    metricsAddress: text(
      'metrics_address',
      /^(127(\.\d{1,3}){3}|\[::1\]|localhost):\d{1,5}$/,
      'a loopback address with a port',
    ),
  };
}

/** The `policies:` mapping of the file. */
function isStrict(value: unknown, mistakes: string[]): boolean {
  const mapping: Values = typeof value === 'object' && value !== null ? (value as Values) : {};
  const { strict = false, ...others } = mapping;
  const isFit = value === undefined || (mapping === value && !Array.isArray(value));
  if (!isFit || Object.keys(others).length > 0) mistakes.push('policies: has `strict` only');
  if (typeof strict !== 'boolean') mistakes.push('policies.strict: must be true or false');
  return strict === true;
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
