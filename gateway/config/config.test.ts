// Configuration by example: defaults, overrides, and every mistake in one go.
import { describe, expect, it } from 'vitest';
import { loadConfig } from './config.ts';

const load = (env: Record<string, string>, file: string | null = null) =>
  loadConfig({ env, isRoot: false, readFile: () => file });

describe('the configuration', () => {
  it('should be the documented defaults when nothing is set', () => {
    const result = load({ HOME: '/home/op' });

    expect(result).toMatchObject({
      ok: true,
      config: {
        dataDir: '/home/op/.local/state/service-console',
        port: 15_483,
        bind: '0.0.0.0',
        baseUrl: 'https://localhost:15483',
        databaseUrl: null,
        clickhouseUrl: null,
        backgroundTasks: true,
        tls: null,
        mode: 'self_hosted',
        platform: 'standard',
      },
    });
  });

  it('should keep its state under /var/lib when the user is root', () => {
    const result = loadConfig({ env: {}, isRoot: true, readFile: () => null });

    expect(result).toMatchObject({ config: { dataDir: '/var/lib/service-console' } });
  });

  it('should let the environment win over the file', () => {
    const result = load(
      { SERVICE_CONSOLE_PORT: '15484', SERVICE_CONSOLE_BACKGROUND_TASKS: 'false' },
      'port: 1\nplatform: telecom\nintervals:\n  STALENESS_WINDOW_MS: 45000\n',
    );

    expect(result).toMatchObject({
      ok: true,
      config: {
        port: 15_484,
        platform: 'telecom',
        backgroundTasks: false,
        intervals: { STALENESS_WINDOW_MS: 45_000 },
      },
    });
  });

  it('should be frozen all the way down', () => {
    const result = load({});

    expect(result.ok && Object.isFrozen(result.config.intervals)).toBe(true);
  });

  it('should report all mistakes together, by the name of their source', () => {
    const result = load(
      {
        SERVICE_CONSOLE_PORT: 'many',
        SERVICE_CONSOLE_MODE: 'cloudy',
      },
      'prot: 3\nbind: 7\n',
    );

    expect(result.ok ? [] : result.mistakes.join('\n')).toMatch(/prot: there is no such setting/);
    expect(result.ok ? [] : result.mistakes.join('\n')).toMatch(/^SERVICE_CONSOLE_PORT: /m);
    expect(result.ok ? [] : result.mistakes.join('\n')).toMatch(/^SERVICE_CONSOLE_MODE: /m);
    expect(result.ok ? [] : result.mistakes.join('\n')).toMatch(/^console.yaml: bind: /m);
  });

  it('should refuse what this version does not have instead of ignoring it', () => {
    const result = load({ SERVICE_CONSOLE_REDPANDA_URL: 'broker:9092' });

    expect(result).toMatchObject({ ok: false });
    expect(result.ok ? 0 : result.mistakes.length).toBe(1);
    expect(result.ok ? '' : result.mistakes[0]).toContain('not available in this version');
  });

  it.each([
    [{ SERVICE_CONSOLE_TLS_CERT: '/a' }, /need each other/],
    [{ SERVICE_CONSOLE_BASE_URL: 'http://plain' }, /must be a URL of https/],
    [{ SERVICE_CONSOLE_DATABASE_URL: 'mysql://u:secret@h' }, /must be a URL of postgres/],
    [{ SERVICE_CONSOLE_REDIS_URL: 'http://u:secret@cache' }, /must be a URL of redis/],
    [{ SERVICE_CONSOLE_MODE: 'cloud' }, /needs SERVICE_CONSOLE_PROVISIONING/],
  ])('should refuse a contradiction %#', (env, reason) => {
    const result = load(env as unknown as Record<string, string>);

    expect(result.ok ? '' : result.mistakes.join()).toMatch(reason);
    expect(result.ok ? '' : result.mistakes.join()).not.toContain('secret');
  });

  it('should name a broken interval relation and an unknown interval', () => {
    const result = load({}, 'intervals: {STALENESS_WINDOW_MS: 1000, NO_SUCH_MS: 1}');

    expect(result.ok ? '' : result.mistakes.join('\n')).toMatch(/two heartbeats/);
    expect(result.ok ? '' : result.mistakes.join('\n')).toMatch(/NO_SUCH_MS/);
  });

  it('should say that the file is not YAML', () => {
    const result = load({}, 'port: [1');

    expect(result.ok ? '' : result.mistakes.join()).toMatch(/console\.yaml: /);
  });
});
