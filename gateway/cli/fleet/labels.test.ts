// `service-console teams`, `groups`, the labels of sensors, and `settings` by example, against the real listener.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cli, openCli } from '../plumbing/cli.fixture.ts';
import { EXIT } from '../plumbing/exit.ts';

let cli: Cli;
beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());
const run = (...argv: readonly string[]) => cli.run(...argv);

describe('settings', () => {
  it('should be listed, read and changed, and given their defaults back', async () => {
    const { out } = await run('settings', 'list');
    expect(out[0]).toMatch(/^NAME +VALUE +DEFAULT +APPLIES$/);
    expect(out.join('\n')).toMatch(/^analytics_retention_days +90 +90 +at once$/m);
    const set = await run('settings', 'set', 'analytics_retention_days=30', '-o', 'name');
    expect(set).toMatchObject({ code: EXIT.ok, out: ['analytics_retention_days'] });
    const one = await run('settings', 'get', 'analytics_retention_days');
    expect(one.out.join('\n')).toMatch(/^VALUE +30$/m);
    const listed = [
      'webhook_allow_list=hooks.example.org, 10.0.0.0/8',
      'federation_role=regional',
      'federation_region=eu-1',
      'federation_region_label=Europe',
    ];
    const many = await run('settings', 'set', ...listed);
    expect(many.err).toContain('federation_role waits');
    expect(many.out.join('\n')).toMatch(/hooks\.example\.org, 10\.0\.0\.0\/8/);
    await run('settings', 'set', 'analytics_retention_days=');
    expect(cli.live.fixture.settings.get().analyticsRetentionDays).toBe(90);
  });

  it('should say which value is wrong, and change none', async () => {
    const wrong = ['client_certificate_ttl_hours=24', 'federation_role=hub'];
    wrong.push('analytics_retention_days=45');
    const { code, err } = await run('settings', 'set', ...wrong);
    expect(code).toBe(EXIT.usage);
    expect(err).toMatch(/client_certificate_ttl_hours/);
    expect(err).toContain('must be one of: standalone, regional, central');
    expect(cli.live.fixture.settings.get().analyticsRetentionDays).toBe(90);
    expect((await run('settings', 'set', 'retention=1')).code).toBe(EXIT.notFound);
    expect((await run('settings', 'set', 'retention')).code).toBe(EXIT.usage);
    expect((await run('settings', 'get', 'retention')).err).toContain('settings list');
  });
});

describe.each(['teams', 'groups'] as const)('%s', (path) => {
  it('should be made, found by name, given members and removed', async () => {
    cli.live.fixture.addSensor(path === 'teams' ? 1 : 2, `edge-${path}`);
    const made = await run(path, 'create', 'Core sites', '--description', 'all of them');
    expect(made).toMatchObject({ code: EXIT.ok, out: [expect.stringMatching(/^[0-9a-f-]{36}$/)] });
    expect((await run(path, 'create', 'core SITES')).code).toBe(EXIT.refused);
    const added = await run(path, 'add', 'core sites', '--sensor', `edge-${path}`);
    expect(added.err).toMatch(/has (0 users, )?1 sensors\.$/m);
    const table = await run(path, 'list');
    const [row = ''] = table.out.filter((line) => line.includes('Core sites'));
    expect(row.split(/ {2,}/).slice(0, 2)).toEqual(['Core sites', made.out[0]]);
    const one = await run(path, 'get', 'Core sites');
    expect(one.out.join('\n')).toMatch(/^SENSOR-IDS +[0-9a-f-]{36}$/m);
    await run(path, 'change', 'Core sites', '--name', 'Edge');
    expect((await run(path, 'get', 'Core sites')).code).toBe(EXIT.notFound);
    expect((await run(path, 'drop', 'Edge', '--sensor', `edge-${path}`)).code).toBe(EXIT.ok);
    expect((await run(path, 'add', 'Edge')).err).toContain('no member is named');
    expect((await run(path, 'remove', 'Edge')).code).toBe(EXIT.usage);
    expect((await run(path, 'remove', 'Edge', '--yes')).out).toEqual(made.out);
  });
});

describe('the labels of a sensor', () => {
  it('should be given and taken by its name', async () => {
    cli.live.fixture.addSensor(3, 'edge-3');
    expect((await run('sensors', 'tag', 'edge-3', 'rack-1', 'lab')).err).toMatch(
      /tags lab, rack-1$/,
    );
    expect((await run('sensors', 'untag', 'edge-3', 'lab')).err).toMatch(/tags rack-1$/);
    await run('groups', 'create', 'West');
    expect((await run('sensors', 'set-group', 'edge-3', 'west')).err).toContain('in west');
    expect((await run('sensors', 'set-group', 'edge-3')).code).toBe(EXIT.usage);
    expect((await run('sensors', 'set-group', 'edge-3', '--none')).err).toContain('no group');
    expect((await run('sensors', 'set-role', 'edge-3', 'router')).err).toContain('role router');
  });
});

describe('users', () => {
  it('should be tagged and untagged', async () => {
    const address = 'owner@example.org';
    const made = await run('users', 'create', address, '--role', 'sensor_owner', '--no-link');
    const tagged = await run('users', 'tag', address, 'night', 'core');
    expect(tagged).toMatchObject({ code: EXIT.ok, out: made.out });
    expect(tagged.err).toMatch(/tags (core, night|night, core)/);
    expect((await run('users', 'untag', address, 'night')).err).toMatch(/tags core$/m);
    expect((await run('users', 'tag', address, '')).code).toBe(EXIT.usage);
    expect((await run('users', 'tag', 'no@example.org', 'core')).code).toBe(EXIT.notFound);
  });

  it('should own sensors by themselves', async () => {
    const userId = cli.live.fixture.addUser('sensor_owner');
    const sensorId = cli.live.fixture.addSensor(7, 'owned-node');
    const given = await run('users', 'sensors', userId, '--add', 'owned-node');
    expect(given).toMatchObject({ code: EXIT.ok, out: [sensorId] });
    expect((await run('users', 'sensors', userId)).out).toEqual([sensorId]);
    expect((await run('users', 'sensors', userId, '--drop', 'owned-node')).out).toEqual([]);
    expect((await run('users', 'sensors', userId, '--add', 'no-node')).code).toBe(EXIT.notFound);
  });
});
