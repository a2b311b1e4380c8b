// chDB behind lanes. Each request has a fresh Session (half a millisecond), so settings never leak from one to the next,
// and each lane has its own bound on how many run at once. One Session stays open for as long as the process lives,
// because the engine stops with its last. decision: D7; invariant: I10
import { createRequire } from 'node:module';
import {
  EMBEDDED_MEMORY_MAX_BYTES,
  EMBEDDED_QUERIES_WAITING_MAX,
  EMBEDDED_RESULT_MAX_BYTES,
} from '../../machines/limits.ts';
import { type ClickhouseRequest, type Lane, preludeOf, quote } from './chdb-request.ts';

type ChdbResult = {
  readonly elapsed: number;
  readonly rowsRead: number;
  readonly bytesRead: number;
  bytes(): Uint8Array;
};
type ChdbSession = {
  queryAsync(sql: string, options: { format: string }): Promise<ChdbResult>;
  insert(params: {
    table: string;
    values: Buffer;
    format: string;
    columns?: readonly string[];
    settings: Record<string, string>;
  }): Promise<{ rowsWritten: number; bytesWritten: number; elapsed: number }>;
  close(): void;
};
type ChdbModule = {
  Session: new (path: string, options: { connectionArgs: readonly string[] }) => ChdbSession;
};

export type EngineAnswer = {
  readonly bytes: Uint8Array;
  readonly summary: Readonly<Record<string, string>>;
};

export type ChdbEngine = {
  /** Runs a request in its lane; rejects with the engine's own error. */
  run(request: ClickhouseRequest, rows: Buffer, id: string): Promise<EngineAnswer>;
  /** Ends a request that is running, by the id it was given; one that still waits is dropped. */
  cancel(id: string): Promise<void>;
  /** Waits for what runs, then closes. */
  close(): Promise<void>;
};

const LANE_WIDTHS: Readonly<Record<Lane, number>> = { write: 2, read: 4, control: 3 };

/** Opens the database in a folder. */
export function openChdbEngine(folder: string): ChdbEngine {
  const { Session } = createRequire(import.meta.url)('chdb') as ChdbModule;
  const open = () =>
    new Session(folder, {
      connectionArgs: [
        `--max_server_memory_usage=${EMBEDDED_MEMORY_MAX_BYTES}`,
        '--output_format_json_quote_64bit_integers=1',
        // Results are held whole before they are sent; what is larger has to be asked for in pages.
        `--max_result_bytes=${EMBEDDED_RESULT_MAX_BYTES}`,
      ],
    });
  const keeper = open();
  const lanes = {
    write: createLane(LANE_WIDTHS.write),
    read: createLane(LANE_WIDTHS.read),
    control: createLane(LANE_WIDTHS.control),
  };

  async function execute(
    request: ClickhouseRequest,
    rows: Buffer,
    id: string,
  ): Promise<EngineAnswer> {
    const session = open();
    try {
      await session.queryAsync(preludeOf(request, id), { format: 'Null' });
      if (request.insert !== null) {
        const { table, columns, format } = request.insert;
        const done = await session.insert({
          table,
          values: rows,
          format,
          settings: { ...request.settings },
          ...(columns === null ? {} : { columns }),
        });
        return {
          bytes: new Uint8Array(),
          summary: summaryOf({ written_rows: done.rowsWritten, written_bytes: done.bytesWritten }),
        };
      }
      const result = await session.queryAsync(request.sql, { format: request.format });
      return {
        bytes: result.bytes(),
        summary: summaryOf({ read_rows: result.rowsRead, read_bytes: result.bytesRead }),
      };
    } finally {
      session.close();
    }
  }

  return {
    run: (request, rows, id) => lanes[request.lane].enter(id, () => execute(request, rows, id)),
    async cancel(id) {
      if (lanes.read.forget(id) || lanes.write.forget(id) || lanes.control.forget(id)) return;
      const session = open();
      try {
        await session.queryAsync(`KILL QUERY WHERE Settings['log_comment'] = ${quote(id)} ASYNC`, {
          format: 'Null',
        });
      } finally {
        session.close();
      }
    },
    async close() {
      await Promise.all([lanes.read.idle(), lanes.write.idle(), lanes.control.idle()]);
      keeper.close();
    },
  };
}

type LaneGate = {
  enter<T>(id: string, run: () => Promise<T>): Promise<T>;
  /** Drops a request that still waits. */
  forget(id: string): boolean;
  idle(): Promise<void>;
};

function createLane(width: number): LaneGate {
  let running = 0;
  const waiting = new Map<string, { start: () => void; drop: () => void }>();
  let idlers: (() => void)[] = [];

  function advance(): void {
    if (running === 0 && waiting.size === 0) {
      for (const wake of idlers.splice(0)) wake();
    }
    for (const [id, { start }] of waiting) {
      if (running >= width) return;
      waiting.delete(id);
      running += 1;
      start();
    }
  }

  return {
    async enter(id, run) {
      if (waiting.size >= EMBEDDED_QUERIES_WAITING_MAX) {
        throw new Error(
          'Code: 202. DB::Exception: Too many simultaneous queries. (TOO_MANY_SIMULTANEOUS_QUERIES)',
        );
      }
      await new Promise<void>((resolve, reject) => {
        waiting.set(id, {
          start: resolve,
          drop: () => reject(new Error('the request was given up')),
        });
        advance();
      });
      try {
        return await run();
      } finally {
        running -= 1;
        advance();
      }
    },
    forget(id) {
      const entry = waiting.get(id);
      waiting.delete(id);
      entry?.drop();
      return entry !== undefined;
    },
    idle: () =>
      new Promise((resolve) => {
        idlers = [...idlers, resolve];
        advance();
      }),
  };
}

function summaryOf(counts: Readonly<Record<string, number>>): Record<string, string> {
  const zeros = { read_rows: '0', read_bytes: '0', written_rows: '0', written_bytes: '0' };
  return {
    ...zeros,
    ...Object.fromEntries(Object.entries(counts).map(([name, n]) => [name, String(n)])),
  };
}
