// sensor.yaml: a frozen configuration that enrollment will accept, or every mistake as a sentence.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_INTERVALS } from '../../../machines/intervals.ts';
import { EnrollRequest } from '../../../machines/wire/enrollment.ts';
import { type ConfigResult, loadConfig, type SensorConfig } from '../../../sensor/config/config.ts';
import { fitsSchema } from '../fits-schema.ts';
import { texts } from '../samples.ts';
import { demand, demandSame, type FuzzTarget, lastWords, type Note } from '../target.ts';

const MISTAKES_MAX_CHARS = 65_536;
const { node_name, flavor, labels, declared_role } = EnrollRequest.properties;

const target: FuzzTarget = {
  name: 'sensor-yaml',
  modules: ['sensor/config/config.ts', 'machines/limits.ts'],
  form: 'text',
  dictionary: [
    'console_url: ',
    'node_name: ',
    'labels: ',
    'intervals: ',
    'engine: procfs',
    'HEARTBEAT_INTERVAL_MS: ',
    '&a ',
    '*a',
    '<<: ',
    '!!binary ',
    '? ',
    '- ',
    '|\n  ',
    '.inf',
    '{}',
    '[]',
    '0x10',
    'null',
  ],
  seeds: () =>
    texts(
      'console_url: https://console:15483\nnode_name: node-1\nflavor: telecom\n',
      'labels: {region: eu, rack: "12"}\ndeclared_role: amf\nengine: procfs\nlog_level: warn\n',
      'intervals: {HEARTBEAT_INTERVAL_MS: 5000, HEARTBEAT_TIMEOUT_MS: 4000}\n',
      'proxy_url: http://proxy:3128\nca_fingerprint: "sha256:00"\nca_file: /x\n',
      'labels: [a, b]\n',
      `labels: {${'k'.repeat(70)}: v, short: ${'v'.repeat(300)}}\n`,
      `declared_role: ${'r'.repeat(100)}\n`,
      'ebpf: {watch_paths: [/srv/keys/], exclude_cgroups: [/sys/fs/cgroup/a], tell_close: true}\n',
      'intervals: 5\n',
      'intervals: {HEARTBEAT_INTERVAL_MS: .inf}\n',
      'a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n',
      '__proto__: {polluted: 1}\nlabels: {__proto__: x}\n',
      `${'['.repeat(300)}`,
      '- a\n- b\n',
      '{',
    ),
  async run(bytes, note) {
    const stateDir = mkdtempSync(join(tmpdir(), 'fuzz-sensor-yaml-'));
    try {
      writeFileSync(join(stateDir, 'sensor.yaml'), bytes);
      await check(() => loadConfig({ SERVICE_SENSOR_STATE_DIR: stateDir }), note);
    } finally {
      rmSync(stateDir, { recursive: true, force: true });
    }
  },
};
export default target;

async function check(load: () => Promise<ConfigResult>, note: Note): Promise<void> {
  const result = await load();
  if (!result.ok) {
    demand(result.mistakes.length > 0, 'a refusal says nothing');
    demand(result.mistakes.join().length <= MISTAKES_MAX_CHARS, 'a refusal is too large');
    for (const mistake of result.mistakes) note(lastWords(mistake));
    return;
  }
  checkConfig(result.config);
  const again = await load();
  demandSame(again.ok && again.config, result.config, 'the same file gives another configuration');
  note(`accepted ${Object.keys(result.config.labels).length}`);
}

function checkConfig(config: SensorConfig): void {
  demand(Object.isFrozen(config), 'the configuration can be changed');
  demand(fitsSchema(config.nodeName, node_name), 'enrollment would refuse the node name');
  demand(fitsSchema(config.flavor, flavor), 'enrollment would refuse the flavor');
  demand(fitsSchema(config.labels, labels), 'enrollment would refuse the labels');
  demand(
    config.declaredRole === null || fitsSchema(config.declaredRole, declared_role),
    'enrollment would refuse the role',
  );
  const { consoleUrl, proxyUrl, intervals } = config;
  demand(
    consoleUrl === null || consoleUrl.protocol === 'https:',
    'the Console is asked in the open',
  );
  demand(proxyUrl === null || proxyUrl.protocol === 'http:', 'the proxy is no http proxy');
  for (const name of Object.keys(DEFAULT_INTERVALS)) {
    const value = Object.entries(intervals).find(([one]) => one === name)?.[1] ?? Number.NaN;
    demand(Number.isFinite(value) && value > 0, 'an interval is no time');
  }
}
