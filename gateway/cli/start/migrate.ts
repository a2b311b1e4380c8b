// `service-console migrate`: brings both stores to the newest schema, or shows what that would do.
import { mkdirSync } from 'node:fs';
import { createLogger } from '../../../actors/runtime/json-log.ts';
import { createWheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { EXIT } from '../plumbing/exit.ts';
import { lockDataDir } from './data-dir-lock.ts';
import {
  migrateAnalytics,
  migrateRelational,
  openAnalyticsStore,
  openRelationalStore,
  planStores,
} from './open-stores.ts';
import { readConfig } from './quickstart.ts';

/** Prints one line a migration; resolves to the exit code. */
export async function runMigrate(options: { readonly plan?: boolean }): Promise<number> {
  const config = readConfig(process.env, process.getuid?.() === 0);
  const clock = createWheelClock();
  const closers: (() => Promise<void>)[] = [];
  mkdirSync(config.dataDir, { recursive: true, mode: 0o711 });
  const unlock = lockDataDir(config.dataDir);
  const open = {
    config,
    clock,
    logger: createLogger('warn'),
    onClose: (close: () => Promise<void>) => void closers.push(close),
  };
  closers.push(async () => unlock());
  try {
    const relational = await openRelationalStore(open);
    const analytics = await openAnalyticsStore(open);
    const outcomes = options.plan
      ? [await planStores(relational, analytics)]
      : [await migrateRelational(relational), await migrateAnalytics(relational, analytics)];
    const steps = outcomes.flatMap((outcome) => (outcome.ok ? outcome.steps : []));
    for (const { store, number, name } of steps) {
      process.stdout.write(
        `${options.plan ? 'would apply' : 'applied'} ${store} ${number} ${name}\n`,
      );
    }
    if (steps.length === 0) process.stderr.write('Both stores are at the newest schema.\n');
    return EXIT.ok;
  } finally {
    for (const close of closers.reverse()) await close();
    clock.stop();
  }
}
