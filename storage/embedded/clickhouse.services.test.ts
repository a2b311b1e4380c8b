import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClickhouseLauncher } from './clickhouse.ts';
import type { ClickhouseEndpoint, RunningStore } from './store-launcher.ts';

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
const dataDir = mkdtempSync(join(tmpdir(), 'clickhouse-'));
const launcher = createClickhouseLauncher({ dataDir, logger: quiet });
const begin = () => launcher.start(new AbortController().signal);
let store: RunningStore<ClickhouseEndpoint>;

const clientOf = ({ url, username, password }: ClickhouseEndpoint) =>
  createClient({
    url,
    username,
    password,
    compression: { request: { codec: 'zstd' }, response: true },
    clickhouse_settings: { output_format_json_quote_64bit_integers: 1, async_insert: 0 },
    log: { LoggerClass: Silent },
  });

// The client prints its errors unless it is given a logger.
class Silent {
  trace(): void {}
  debug(): void {}
  info(): void {}
  warn(): void {}
  error(): void {}
}

beforeAll(async () => {
  store = await begin();
});
afterAll(async () => {
  await store.stop(10_000);
  rmSync(dataDir, { recursive: true, force: true });
});

describe('embedded ClickHouse', () => {
  it('should serve the ordinary client with compressed inserts, exact 64-bit numbers and parameters', async () => {
    const client = clientOf(store.endpoint);
    await client.command({
      query: `CREATE TABLE exact (id UInt64, s String) ENGINE = MergeTree ORDER BY id
              SETTINGS non_replicated_deduplication_window = 100, fsync_after_insert = 1`,
    });
    const hostile = 'it\'s \\ \u0000 \u{1F600} {x:String} `"';
    for (let i = 0; i < 3; i += 1) {
      await client.insert({
        table: 'exact',
        columns: ['id', 's'],
        values: [{ id: '18446744073709551615', s: hostile }],
        format: 'JSONEachRow',
        clickhouse_settings: { insert_deduplication_token: 'once' },
      });
    }
    const rows = await client.query({
      query: 'SELECT id, s FROM exact WHERE s = {s:String} AND id = {id:UInt64}',
      query_params: { s: hostile, id: '18446744073709551615' },
      format: 'JSONEachRow',
    });
    expect(await rows.json()).toEqual([{ id: '18446744073709551615', s: hostile }]);
    await client.close();
  });

  it('should not let a slow search delay an insert, and end it when told to', async () => {
    const client = clientOf(store.endpoint);
    await client.command({
      query: 'CREATE TABLE IF NOT EXISTS quick (id UInt64) ENGINE = MergeTree ORDER BY id',
    });
    let isSearching = true;
    const search = client
      .query({
        query: 'SELECT count() FROM numbers(400000000000) WHERE cityHash64(number) % 7 = 0',
        query_id: 'slow-one',
      })
      .then((result) => result.text())
      .catch((error: unknown) => String(error))
      .finally(() => {
        isSearching = false;
      });
    await client.insert({ table: 'quick', values: [{ id: 1 }], format: 'JSONEachRow' });
    expect(isSearching).toBe(true);
    await client.command({ query: "KILL QUERY WHERE query_id = 'slow-one' SYNC" });
    expect(await search).toContain('cancelled');
    await client.close();
  });

  it('should answer mistakes with their code and refuse a wrong password', async () => {
    const client = clientOf(store.endpoint);
    await expect(client.query({ query: 'SELECT no_such_column' })).rejects.toMatchObject({
      code: '47',
    });
    await expect(
      client
        .query({
          query: 'SELECT sleepEachRow(1) FROM numbers(3)',
          clickhouse_settings: { max_execution_time: 1 },
        })
        .then((r) => r.text()),
    ).rejects.toMatchObject({ code: '159' });
    await client.close();
    const stranger = clientOf({ ...store.endpoint, password: 'guess' });
    await expect(stranger.query({ query: 'SELECT 1' })).rejects.toMatchObject({ code: '516' });
    await stranger.close();
  });

  it('should keep acknowledged rows across SIGKILL and start again on its port', async () => {
    const before = clientOf(store.endpoint);
    await before.command({
      query:
        'CREATE TABLE IF NOT EXISTS kept (id UInt64) ENGINE = MergeTree ORDER BY id SETTINGS fsync_after_insert = 1',
    });
    await before.insert({ table: 'kept', values: [{ id: 7 }], format: 'JSONEachRow' });
    await before.close();
    process.kill(store.pid, 'SIGKILL');
    await store.exited;
    const again = await begin();
    expect(again.endpoint).toEqual(store.endpoint);
    store = again;
    const client = clientOf(store.endpoint);
    const rows = await client.query({ query: 'SELECT id FROM kept', format: 'JSONEachRow' });
    expect(await rows.json()).toEqual([{ id: '7' }]);
    await client.close();
  });

  it('should take over the server of an owner that was killed', async () => {
    await store.stop(10_000);
    const script = join(dataDir, 'owner.ts');
    writeFileSync(
      script,
      `const { createClickhouseLauncher } = await import(${JSON.stringify(join(import.meta.dirname, 'clickhouse.ts'))});
       const quiet = { info() {}, warn() {}, error() {} };
       const store = await createClickhouseLauncher({ dataDir: ${JSON.stringify(dataDir)}, logger: quiet }).start(new AbortController().signal);
       process.send(store.pid);
       setInterval(() => {}, 1000);`,
    );
    const owner = fork(script);
    const pid = await messageOf(owner);
    owner.kill('SIGKILL');
    store = await begin();
    expect(store).toMatchObject({ pid, adopted: true });
  });
});

function messageOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`the owner ended with ${code}`)));
  });
}
