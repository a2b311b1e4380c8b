// Opens the two databases as the configuration says: external by URL, or embedded and supervised. Each is migrated before
// it is used. Whatever was opened is closed by the functions handed to `onClose`, in reverse order. decision: D7
import { join } from 'node:path';
import type { Logger } from '../../../actors/runtime/logger.ts';
import type { WheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { type Analytics, createAnalytics } from '../../../storage/analytics/analytics.ts';
import type { AnalyticsAccess } from '../../../storage/analytics/client.ts';
import { createClickhouseLauncher } from '../../../storage/embedded/clickhouse.ts';
import { demandInstalled, type EmbeddedName } from '../../../storage/embedded/installed.ts';
import { createPostgresLauncher } from '../../../storage/embedded/postgres.ts';
import type { StoreLauncher } from '../../../storage/embedded/store-launcher.ts';
import {
  type SupervisedStore,
  superviseStore,
} from '../../../storage/embedded/store-process.actor.ts';
import {
  applyMigrations,
  type MigrationOutcome,
  type MigrationStores,
  planMigrations,
} from '../../../storage/migrate.ts';
import { createRelational, type Relational } from '../../../storage/relational/relational.ts';
import type { ConsoleConfig } from '../../config/config.ts';
import type { ConsolePorts } from '../../console-ports.ts';
import { createExportThreads } from '../../process/export-threads.ts';
import { processTime } from '../../process/time.ts';
import { clickhouseAccessOf } from './clickhouse-access.ts';

export type OpenStores = {
  readonly config: ConsoleConfig;
  readonly clock: WheelClock;
  readonly logger: Logger;
  /** Takes what has to be closed later. */
  readonly onClose: (close: () => Promise<void>) => void;
  /** Told of each embedded store that is supervised. */
  readonly onStore?: (name: string, store: SupervisedStore<unknown>) => void;
  /** Told how ClickHouse is asked, for threads that ask it by themselves. */
  readonly onAccess?: (access: AnalyticsAccess) => void;
  /** Aborts when nobody waits for the stores any more. */
  readonly givenUp?: AbortSignal | undefined;
};

/** Both databases as a starting Console opens them: migrated. */
export function storePorts(
  deps: Pick<OpenStores, 'config' | 'clock' | 'logger'>,
): Pick<ConsolePorts, 'openRelational' | 'openAnalytics' | 'exporter'> {
  let relational: Relational | null = null;
  let access: AnalyticsAccess | null = null;
  const onAccess = (given: AnalyticsAccess): void => {
    access = given;
  };
  return {
    exporter: createExportThreads({
      folder: join(deps.config.dataDir, 'exports'),
      access() {
        if (access === null) throw new Error('start-up order: the event store is not open yet');
        return access;
      },
    }),
    async openRelational(opening) {
      relational = await openRelationalStore({ ...deps, ...opening });
      await migrateRelational(relational);
      return relational;
    },
    async openAnalytics(opening) {
      if (relational === null) throw new Error('start-up order: the database is not open yet');
      const analytics = await openAnalyticsStore({ ...deps, ...opening, onAccess });
      await migrateAnalytics(relational, analytics);
      return analytics;
    },
  };
}

/** Opens PostgreSQL, without migrating it. */
export async function openRelationalStore(options: OpenStores): Promise<Relational> {
  const { config, logger, onClose } = options;
  const url =
    config.databaseUrl ?? (await supervised(options, 'postgresql', createPostgresLauncher)).url;
  const relational = createRelational({
    url,
    timers: processTime,
    logger,
    intervals: config.intervals,
  });
  onClose(() => relational.close());
  return relational;
}

/** Opens ClickHouse, without migrating it. */
export async function openAnalyticsStore(options: OpenStores): Promise<Analytics> {
  const { config, logger, onClose, onAccess } = options;
  const access =
    clickhouseAccessOf(config.clickhouseUrl) ??
    (await supervised(options, 'clickhouse', createClickhouseLauncher));
  const { url, username, password } = access;
  onAccess?.({ url, username, password });
  const analytics = createAnalytics({
    ...{ url, username, password },
    timers: processTime,
    logger,
    intervals: config.intervals,
  });
  onClose(() => analytics.close());
  return analytics;
}

/** Brings PostgreSQL to the newest schema. Throws why it may not. */
export async function migrateRelational(relational: Relational): Promise<MigrationOutcome> {
  return sound(
    await applyMigrations({ pool: relational.pool, analytics: neverAsked, only: ['relational'] }),
  );
}

/** Brings ClickHouse to the newest schema; how long events are kept is a setting. Throws why it may not. */
export async function migrateAnalytics(
  relational: Relational,
  analytics: Analytics,
): Promise<MigrationOutcome> {
  return sound(await applyMigrations(analyticsOnly(relational, analytics)));
}

/** What a migration would do. */
export async function planStores(
  relational: Relational,
  analytics: Analytics,
): Promise<MigrationOutcome> {
  return sound(
    await planMigrations({ pool: relational.pool, analytics: (sql) => analytics.command(sql) }),
  );
}

function analyticsOnly(relational: Relational, analytics: Analytics): MigrationStores {
  return {
    pool: relational.pool,
    analytics: (statement) => analytics.command(statement),
    only: ['analytics'],
  };
}

async function supervised<Endpoint>(
  { config, clock, logger, onClose, onStore, givenUp }: OpenStores,
  name: EmbeddedName,
  launcherOf: (options: { dataDir: string; logger: Logger }) => StoreLauncher<Endpoint>,
): Promise<Endpoint> {
  demandInstalled(name);
  const launcher = launcherOf({ dataDir: config.dataDir, logger });
  const store = superviseStore({
    launcher,
    clock: clock as never,
    logger,
    now: processTime.now,
    intervals: config.intervals,
  });
  onClose(() => store.stop());
  onStore?.(launcher.name, store);
  givenUp?.addEventListener('abort', () => void store.stop(), { once: true });
  return store.ready();
}

function sound(outcome: MigrationOutcome): MigrationOutcome {
  if (!outcome.ok) throw new Error(`${outcome.reason}: ${outcome.detail}`);
  return outcome;
}

function neverAsked(): Promise<never> {
  throw new Error('the analytics store is opened by a later step');
}
