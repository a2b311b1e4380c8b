// Addresses of stores that leave this machine, by example: verified TLS or a word that says otherwise.
import { describe, expect, it } from 'vitest';
import { loadConfig } from './config.ts';
import { mistakeOfTransport } from './store-transport.ts';

const load = (env: Record<string, string>) =>
  loadConfig({
    env: { SERVICE_CONSOLE_DATA_DIR: '/d', ...env },
    isRoot: false,
    readFile: () => null,
  });
const FAR = {
  SERVICE_CONSOLE_DATABASE_URL: 'postgres://u:hunter2@db.example/x',
  SERVICE_CONSOLE_CLICKHOUSE_URL: 'http://u:hunter2@ch.example:8123',
  SERVICE_CONSOLE_REDIS_URL: 'redis://:hunter2@redis.example',
};

describe('the way to a store', () => {
  it('should be verified TLS beyond this machine', () => {
    const refused = load(FAR);
    const mistakes = refused.ok ? [] : refused.mistakes;
    expect(mistakes).toHaveLength(3);
    for (const [at, name] of Object.keys(FAR).entries()) expect(mistakes[at]).toContain(name);
    expect(mistakes.join()).not.toContain('hunter2');
    expect(mistakes.join()).toContain('sslmode=verify-full');
    expect(
      load({
        SERVICE_CONSOLE_DATABASE_URL: 'postgres://u:x@db.example/x?sslmode=verify-full',
        SERVICE_CONSOLE_CLICKHOUSE_URL: 'https://u:x@ch.example',
        SERVICE_CONSOLE_REDIS_URL: 'rediss://:x@redis.example',
      }),
    ).toMatchObject({ ok: true, config: { plaintextStores: [] } });
  });

  it('should be told at each start where somebody allowed less', () => {
    const loaded = load({ ...FAR, SERVICE_CONSOLE_ALLOW_PLAINTEXT_STORES: 'true' });
    expect(loaded).toMatchObject({
      ...{ ok: true, config: { plaintextStores: ['database', 'analytics', 'redis'] } },
    });
  });

  it('should be what the driver takes, not what the address seems to say', () => {
    const database = (address: string) => mistakeOfTransport('database', address) === null;
    for (const good of [
      ...['postgres://localhost/x', 'postgres://127.0.0.1/x', 'postgres://[::1]/x'],
      ...['postgres:///x?host=/var/run/postgresql', 'postgres://far.example/x?host=127.0.0.1'],
      'postgres://far.example/x?sslmode=verify-full&sslrootcert=/etc/ca.pem',
    ]) {
      expect([good, database(good)]).toEqual([good, true]);
    }
    for (const bad of [
      ...['postgres://localhost/x?host=far.example', 'postgres://localhost/x?hostaddr=192.0.2.7'],
      ...['postgres://localhost.example/x', 'postgres://127.example/x', 'postgres://10.0.0.1/x'],
      ...['postgres://far.example/x?sslmode=require', 'postgres://far.example/x?sslmode=verify-ca'],
      ...['postgres://far.example/x?sslmode=no-verify', 'postgres://far.example/x?ssl=true'],
      'postgres://far.example/x?sslmode=verify-full&sslmode=disable',
      'postgres://localhost/x?host=127.0.0.1,far.example',
    ]) {
      expect([bad, database(bad)]).toEqual([bad, false]);
    }
    expect(mistakeOfTransport('redis', 'redis://127.0.0.1:6379')).toBeNull();
    expect(mistakeOfTransport('analytics', 'http://localhost:8123')).toBeNull();
  });
});
