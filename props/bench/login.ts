// What a refused login costs: an address that nobody has beside a wrong password, one after the other in random order,
// with Argon2id and PostgreSQL as they run: node props/bench/login.ts [pairs]
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLoginService } from '../../actors/access/login.ts';
import { createPasswords } from '../../actors/access/passwords.ts';
import { createSessionService } from '../../actors/access/sessions.ts';
import { silentLogger as logger } from '../../actors/runtime/silent-logger.ts';
import { processTime } from '../../gateway/process/time.ts';
import { DEFAULT_INTERVALS } from '../../machines/intervals.ts';
import {
  SESSION_ABSOLUTE_MS,
  SESSION_IDLE_MS,
  STORE_STOP_TIMEOUT_MS,
} from '../../machines/limits.ts';
import { createPostgresLauncher } from '../../storage/embedded/postgres.ts';
import { createArgon2Hasher } from '../../storage/keys/argon2-hasher.ts';
import { applyMigrations } from '../../storage/migrate.ts';
import { createRelational, type Relational } from '../../storage/relational/relational.ts';

const pairs = Number(process.argv[2] ?? 200);
const KINDS = ['unknown e-mail', 'wrong password'] as const;
type Kind = (typeof KINDS)[number];
const WARM_UP = 10;
const ACCOUNTS = 50;
const QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95] as const;

const dataDir = mkdtempSync(join(tmpdir(), 'login-bench-'));
// The server may run as another user, who must be able to enter.
chmodSync(dataDir, 0o711);
const server = await createPostgresLauncher({ dataDir: join(dataDir, 'pg'), logger }).start(
  new AbortController().signal,
);
const relational = createRelational({
  ...{ url: server.endpoint.url, timers: processTime, logger, intervals: DEFAULT_INTERVALS },
});
try {
  await applyMigrations({ pool: relational.pool, analytics: async () => undefined });
  print(await measure(relational));
} finally {
  await relational.close();
  await server.stop(STORE_STOP_TIMEOUT_MS);
  rmSync(dataDir, { recursive: true, force: true });
}

async function measure(relational: Relational) {
  const { users, userPasswords, loginFailures, sessions: store, audit } = relational;
  const hasher = createArgon2Hasher();
  const passwordHash = String(await hasher.hash('the right one'));
  const emails = Array.from({ length: ACCOUNTS }, (_, index) => `person-${index}@example.test`);
  for (const email of emails) {
    const who = { userId: randomUUID(), email, displayName: '', role: 'viewer' as const };
    await users.create({ ...who, actor: 'bench', nowMs: 0, passwordHash });
  }
  const now = Date.now;
  const sessions = createSessionService({
    ...{ sessions: store, now, idleMs: () => SESSION_IDLE_MS },
    lifetimeMs: () => SESSION_ABSOLUTE_MS,
  });
  const login = createLoginService({
    ...{ users, userPasswords, loginFailures, sessions, audit, now },
    passwords: createPasswords({ hasher }),
    ...{ needOf: () => null, siteOf: (address: string) => address },
  });
  const times: Record<Kind, number[]> = { 'unknown e-mail': [], 'wrong password': [] };
  for (let at = -WARM_UP; at < pairs; at += 1) {
    const order = Math.random() < 0.5 ? KINDS : KINDS.toReversed();
    for (const kind of order) {
      const known = emails[Math.floor(Math.random() * ACCOUNTS)] ?? '';
      const email = kind === 'wrong password' ? known : `nobody-${randomUUID()}@example.test`;
      // Nobody is slowed down here: what one refusal costs is the question.
      await loginFailures.forgetFailures([`login:account:${email}`]);
      const startMs = performance.now();
      const answer = await login.login({
        ...{ email, password: 'a wrong one', address: randomUUID(), userAgent: 'bench' },
      });
      const tookMs = performance.now() - startMs;
      if (answer.ok || answer.code !== 'credentials_refused') throw new Error('not refused');
      if (at >= 0) times[kind].push(tookMs);
    }
  }
  return times;
}

function print(times: Record<Kind, number[]>): void {
  const line = (cells: readonly string[]) =>
    process.stdout.write(`${cells.map((cell) => cell.padStart(16)).join('')}\n`);
  const show = (ms: number) => `${ms.toFixed(2)} ms`;
  line(['', ...KINDS, 'difference']);
  for (const q of QUANTILES) {
    const [unknown = 0, wrong = 0] = KINDS.map((kind) => quantile(times[kind], q));
    line([`p${q * 100}`, show(unknown), show(wrong), show(unknown - wrong)]);
  }
  const [unknown, wrong] = [momentsOf(times['unknown e-mail']), momentsOf(times['wrong password'])];
  const difference = unknown.mean - wrong.mean;
  const error = Math.hypot(unknown.error, wrong.error);
  line(['mean', show(unknown.mean), show(wrong.mean), show(difference)]);
  const isNoise = Math.abs(difference) <= 2 * error;
  process.stdout.write(
    `${pairs} of each; the means differ by ${show(difference)}, their standard error is ` +
      `${show(error)}: ${isNoise ? 'within' : 'OUTSIDE'} noise\n`,
  );
}

function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;
}

function momentsOf(values: readonly number[]) {
  const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
  const variance = values.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (values.length - 1);
  return { mean, error: Math.sqrt(variance / values.length) };
}
