// Designation by PostgreSQL's advisory lock, on a connection of its own: the lock ends with the session, and the session
// ends by itself when its Console is silent, so a frozen Console is overtaken without a clock being compared. decision: D60
import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import {
  DESIGNATION_ANSWER_MS,
  DESIGNATION_SESSION_IDLE_MS,
  DESIGNATION_STAND_TIMEOUT_MS,
} from '../../../machines/console/runtime/loop-limits.ts';
import type { Timers } from '../../ports/plumbing/clock.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import { type Designation, Overtaken, type Tenure } from '../../ports/runtime/designation.ts';
import { connectionOptions } from '../plumbing/pool.ts';
import { createSockets } from '../plumbing/sockets.ts';
import type { Database } from '../plumbing/tables.ts';
import { orUnavailable } from '../plumbing/unavailable.ts';

const DESIGNATION_LOCK = 7_210_154_834;
/** So that connecting, the lock and the epoch fit into one try. */
const ANSWER_MS = DESIGNATION_STAND_TIMEOUT_MS / 2;
// The server ends a session that says nothing, whether its Console is frozen, its machine is off or the network is cut.
const SESSION_SETTINGS = `SET idle_session_timeout = ${DESIGNATION_SESSION_IDLE_MS};
  SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3;
  SET tcp_user_timeout = 10000`;

export type DesignationOptions = {
  readonly db: Kysely<Database>;
  readonly url: string;
  readonly timers: Timers;
};
type Request = Parameters<Designation['stand']>[0];

/** A session that can hold the lock. */
type Session = {
  readonly client: pg.Client;
  /** Told once when it ended without having been closed. */
  onEnd: (reason: string) => void;
  close(): Promise<void>;
};

/** Makes the port; it connects when somebody stands, and keeps that connection while it is tried again. */
export function createDesignation(options: DesignationOptions): Designation {
  // Between two tries the session is kept: a candidate asks once a second.
  let spare: Session | null = null;

  async function stand(request: Request): Promise<Tenure | null> {
    const session = spare ?? (await openSession(options));
    spare = null;
    try {
      if (!(await takesLock(session.client))) {
        session.onEnd = () => {
          if (spare === session) spare = null;
        };
        spare = session;
        return null;
      }
      const epoch = await begin(session.client, request);
      session.onEnd = request.onLost;
      return tenureOf(session, epoch);
    } catch (error) {
      void session.close();
      throw error;
    }
  }

  return {
    stand: (request) => orUnavailable(() => stand(request)),
    async last() {
      const { rows } = await orUnavailable(() =>
        sql<{ epoch: number; holder: string; since_ms: number }>`
          SELECT epoch, holder, since_ms FROM designation
        `.execute(options.db),
      );
      const row = rows[0];
      return { epoch: row?.epoch ?? 0, holder: row?.holder ?? '', sinceMs: row?.since_ms ?? 0 };
    },
    async close() {
      await spare?.close();
      spare = null;
    },
  };
}

async function openSession({ url, timers }: DesignationOptions): Promise<Session> {
  const sockets = createSockets();
  const client = new pg.Client({
    ...connectionOptions(url),
    stream: sockets.open,
    application_name: 'service-console-designation',
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
    statement_timeout: ANSWER_MS,
    lock_timeout: ANSWER_MS,
  });
  let isOver = false;
  const session: Session = {
    client,
    onEnd: () => undefined,
    async close() {
      if (isOver) return;
      isOver = true;
      // A server that is frozen or cut off never says goodbye.
      const deadline = timers.setTimeout(sockets.destroyAll, DESIGNATION_ANSWER_MS);
      await client.end().catch(() => undefined);
      timers.clearTimeout(deadline);
    },
  };
  const lose = (reason: string): void => {
    if (isOver) return;
    isOver = true;
    sockets.destroyAll();
    session.onEnd(reason);
  };
  client.on('error', (error) => lose(error.message));
  client.on('end', () => lose('the connection ended'));
  try {
    await client.connect();
    await client.query(SESSION_SETTINGS);
  } catch (error) {
    isOver = true;
    sockets.destroyAll();
    throw error;
  }
  return session;
}

async function takesLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ is_mine: boolean }>(
    'SELECT pg_try_advisory_lock($1) AS is_mine',
    [DESIGNATION_LOCK],
  );
  return rows[0]?.is_mine === true;
}

// Waits for transactions that share the row, which are those under the epoch before.
async function begin(client: pg.Client, { holder, nowMs }: Request): Promise<number> {
  const { rows } = await client.query<{ epoch: number }>(
    'UPDATE designation SET epoch = epoch + 1, holder = $1, since_ms = $2 RETURNING epoch',
    [storableText(holder), nowMs],
  );
  const epoch = rows[0]?.epoch;
  if (epoch === undefined) throw new Error('the table designation has lost its row');
  return epoch;
}

function tenureOf(session: Session, epoch: number): Tenure {
  return {
    epoch,
    prove: () =>
      orUnavailable(async () => {
        const { rows } = await session.client.query<{ epoch: number }>(
          'SELECT epoch FROM designation',
        );
        if (rows[0]?.epoch !== epoch) throw new Overtaken(epoch);
      }),
    release: session.close,
  };
}
