// console.yaml: a frozen configuration, or every mistake as a sentence that repeats no password.
import { type ConsoleConfig, loadConfig } from '../../../gateway/config/config.ts';
import { texts } from '../samples.ts';
import { demand, demandSame, type FuzzTarget, lastWords } from '../target.ts';

const MISTAKES_MAX_CHARS = 65_536;
const PASSWORD = 'hunter2secret';

const target: FuzzTarget = {
  name: 'console-yaml',
  modules: ['gateway/config/config.ts', 'gateway/config/settings.ts', 'machines/limits.ts'],
  form: 'text',
  dictionary: [
    'port: ',
    'bind: ',
    'base_url: https://',
    'tls: ',
    'cert: ',
    'mode: cloud',
    'provisioning: ',
    'intervals: ',
    'STALENESS_WINDOW_MS: ',
    '&a ',
    '*a',
    '<<: ',
    '? ',
    '- ',
    '|\n  ',
    '.nan',
    '{}',
    '[]',
    '-0',
    '~',
  ],
  seeds: () =>
    texts(
      'port: 15483\nbind: 127.0.0.1\nbase_url: https://console.example/\nlog_level: debug\n',
      `database_url: postgres://u:${PASSWORD}@db/x\nclickhouse_url: http://u:${PASSWORD}@c:8123\n`,
      `database_url: mysql://u:${PASSWORD}@db/x\nclickhouse_url: "${PASSWORD}"\n`,
      'tls: {cert: a, key: b, ca: c}\nbackground_tasks: false\nplatform: telecom\n',
      'tls: {ca: c}\nredpanda_url: x\nredis_url: y\nmode: cloud\n',
      'tls: [a]\nintervals: {HEARTBEAT_INTERVAL_MS: 5000}\n',
      'intervals: {STALENESS_WINDOW_MS: -1, NOTHING: 2, TRUST_ERROR_WINDOW_MS: "5"}\n',
      'a: &a [x, x]\nb: &b [*a, *a, *a]\nc: &c [*b, *b, *b]\nd: [*c, *c, *c]\n',
      '__proto__: {polluted: 1}\nintervals: {__proto__: {polluted: 1}}\n',
      `${'['.repeat(300)}`,
      'port: 99999\nunknown: 1\n',
      '- a\n',
      '{',
      '',
    ),
  run(bytes, note) {
    const text = bytes.toString();
    const load = () =>
      loadConfig({
        env: { SERVICE_CONSOLE_DATA_DIR: '/nowhere', SERVICE_CONSOLE_TLS_KEY: 'key.pem' },
        isRoot: false,
        readFile: () => text,
      });
    const result = load();
    if (result.ok) {
      checkConfig(result.config);
      demandSame(load(), result, 'the same file gives another configuration');
      return note('accepted');
    }
    demand(result.mistakes.length > 0, 'a refusal says nothing');
    demand(result.mistakes.join().length <= MISTAKES_MAX_CHARS, 'a refusal is too large');
    for (const mistake of result.mistakes) note(lastWords(mistake));
  },
};
export default target;

function checkConfig(config: ConsoleConfig): void {
  demand(Object.isFrozen(config) && Object.isFrozen(config.intervals), 'it can be changed');
  const { port, baseUrl, intervals, databaseUrl } = config;
  demand(Number.isInteger(port) && port >= 0 && port <= 65_535, 'the port is none');
  demand(URL.canParse(baseUrl) && baseUrl.startsWith('https:'), 'the address is no https address');
  demand(databaseUrl === null || URL.canParse(databaseUrl), 'the database has no address');
  for (const value of Object.values(intervals)) {
    demand(Number.isFinite(value) && value > 0, 'an interval is no time');
  }
}
