// What `npm run test:services` runs: real waits, Debian's PostgreSQL, a browser, network namespaces.
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { partOf } from './attacks/part.ts';

/** Nothing here depends on how busy the machine is: time of a world of their own, or of servers that are waited for. */
const UNHURRIED = [
  'props/simulation/**/*.services.test.ts',
  'props/{contracts,crash,fuzz,packaging,policies}/**/*.services.test.ts',
  'props/attacks/{role-matrix,slow-peers}.services.test.ts',
  'props/peers/{siem,sso-kinds,webhook-verifiers}.services.test.ts',
  'gateway/**/*.services.test.ts',
  'storage/**/*.services.test.ts',
  'sensor/cli/*.services.test.ts',
  'props/journeys/{renewal,watchdog,webhook-outage}.services.test.ts',
];
/** People at a page or a terminal, who wait for what they see, and others who wait as long as it takes. */
const OF_PEOPLE = [
  'props/journeys/*page.services.test.ts',
  'props/journeys/{enroll-words,first-run,first-start,habits,hunt,install,loopback-only}.services.test.ts',
  'props/journeys/{newcomer,rollout,setup,terminal-words,tokens}.services.test.ts',
  // Programs that die at a step or have a peer, without a promise of how soon.
  'props/journeys/steps/*.services.test.ts',
  'props/peers/{exports,tetragon,tetragon-sensor,tetragon-upgrade}.services.test.ts',
  'sensor/capabilities/{engine,policy}/*.services.test.ts',
];
/** The engine on the kernel. */
const OF_THE_ENGINE = ['sensor/engine/native/**/*.services.test.ts'];
const ALL = '**/*.services.test.ts';
/** Attacks that `npm test` runs on the reference stores, here again on the embedded databases: some with every run ... */
const ON_EMBEDDED = ['accounts', 'certificates', 'enrollment', 'planes', 'role-matrix', 'sessions'];
/** ... and of the others another part each time. `props/attacks/README.md` says which have no store of production. */
const ON_EMBEDDED_BY_TURNS = [
  ...['bodies', 'borrowed-freshness', 'budgets', 'calendar', 'clocks', 'console-deaths'],
  ...['containment', 'cut-keys', 'database-away', 'evidence', 'framing', 'full-spool'],
  ...['guesses', 'identity', 'native-answers', 'planted-password', 'policies', 'policy-keys'],
  ...['rollouts', 'security-keys', 'sensor-plane', 'settings', 'slow-readers', 'small-print'],
  ...['sso', 'sso-endpoints', 'sso-factor', 'sso-last-login', 'step-up', 'stream'],
  ...['totp', 'traces', 'webhooks'],
];
/** Most of what these do is wait; beside them there is time for what computes. */
const WAITERS = [
  'slow-peers',
  'renewal',
  'watchdog',
  'webhook-outage',
  'embedded',
  '/packaging/',
  'siem',
];

const waits = ({ moduleId }: TestSpecification): boolean =>
  WAITERS.some((name) => moduleId.includes(name));

// By turns one that waits and one that computes. The runner takes its order as a class.
class ByTurns extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const waiting = sorted.filter(waits);
    const others = sorted.filter((file) => !waits(file));
    return others
      .flatMap((file, at) => [waiting[at] ?? [], file].flat())
      .concat(waiting.slice(others.length));
  }
}

/** A project; those of a lower turn end before those of the next begin. */
function project(
  name: string,
  turn: number,
  maxWorkers: number,
  include: readonly string[],
  exclude: readonly string[] = [],
) {
  return {
    extends: true as const,
    test: {
      name,
      include: [...include],
      exclude: [...configDefaults.exclude, ...exclude],
      maxWorkers,
      sequence: { groupOrder: turn },
    },
  };
}

/** The databases are started for it, once; two files at a time have as many connections as they may. */
function onEmbedded() {
  const files = [...ON_EMBEDDED, ...partOf(ON_EMBEDDED_BY_TURNS)].map(
    (name) => `props/attacks/${name}.test.ts`,
  );
  const { test, ...rest } = project('embedded', 3, 2, files);
  const setupFiles = ['props/attacks/embedded-setup.ts'];
  return { ...rest, test: { ...test, globalSetup: ['props/attacks/embedded.ts'], setupFiles } };
}

export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..'),
    testTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 300_000,
    pool: 'forks',
    setupFiles: ['props/seed.ts'],
    globalSetup: ['props/page-built.ts'],
    sequence: { sequencer: ByTurns },
    projects: [
      project('unhurried', 0, 4, UNHURRIED),
      project('people', 1, 3, OF_PEOPLE),
      // Two at a time: each starts whole programs and mostly waits; more would spoil their promises about time.
      project('programs', 2, 2, [ALL], [...UNHURRIED, ...OF_PEOPLE, ...OF_THE_ENGINE]),
      project('engine', 2, 2, OF_THE_ENGINE),
      onEmbedded(),
    ],
  },
});
