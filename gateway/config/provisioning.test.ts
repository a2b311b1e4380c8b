// The provisioning file by example: both forms, and every mistake in one go.
import { describe, expect, it } from 'vitest';
import { PROVISIONING_FILE_MAX_BYTES } from '../../machines/limits.ts';
import { needsSetup } from './needs-setup.ts';
import { readProvisioning, readProvisioningFile } from './provisioning.ts';

const mistakesOf = (text: string) => {
  const read = readProvisioning(text);
  return read.ok ? '' : read.mistakes.join('\n');
};

describe('the provisioning file', () => {
  it('should be read as YAML and as JSON', () => {
    const admin = { email: 'ada@example.org', password: 'x', display_name: 'Ada' };
    const expected = {
      ok: true,
      input: {
        license: { schema_version: 1 },
        admin: { email: 'ada@example.org', displayName: 'Ada', secret: { password: 'x' } },
        settings: { analytics_retention_days: 30 },
      },
    };
    const value = {
      ...{ license: { schema_version: 1 }, admin },
      settings: { analytics_retention_days: 30 },
    };
    expect(readProvisioning(JSON.stringify(value))).toEqual(expected);
    expect(
      readProvisioning(
        'license: {schema_version: 1}\nadmin:\n  email: ada@example.org\n  display_name: Ada\n  password: x\nsettings:\n  analytics_retention_days: 30\n',
      ),
    ).toEqual(expected);
  });

  it('should be allowed to be empty', () => {
    const nothing = { ok: true, input: { license: null, admin: null, settings: {} } };
    expect(readProvisioning('')).toEqual(nothing);
    expect(readProvisioning('{}')).toEqual(nothing);
  });

  it('should be refused with every mistake named', () => {
    const mistakes = mistakesOf('admn: 1\nadmin: {mail: x, password: 7}\nsettings: []\n');
    expect(mistakes).toMatch(/admn: there is no such field/);
    expect(mistakes).not.toContain('schema is false');
    expect(mistakes).toMatch(/admin\.mail: there is no such field/);
    expect(mistakes).toMatch(/admin\.password: must be string/);
    expect(mistakes).toMatch(/^settings: /m);
    expect(mistakesOf('admin: [')).not.toBe('');
    expect(mistakesOf('7')).toMatch(/^the file: /);
    expect(mistakesOf('admin: {email: a@b}')).toMatch(/either password or password_hash/);
    expect(mistakesOf('admin: {email: a@b, password: x, password_hash: y}')).toMatch(/either/);
    expect(mistakesOf(' '.repeat(PROVISIONING_FILE_MAX_BYTES + 1))).toMatch(/over/);
    expect(readProvisioningFile('/nowhere/at/all')).toMatchObject({ ok: false });
  });
});

describe('the first run', () => {
  const asks = (env: Record<string, string>, hasFile = false) =>
    needsSetup({ env: { SERVICE_CONSOLE_DATA_DIR: '/d', ...env }, isRoot: false }, (path) => {
      expect(path).toBe('/d/console.yaml');
      return hasFile;
    });

  it('should be needed only by who was told nothing', () => {
    expect(asks({})).toBe(true);
    expect(asks({}, true)).toBe(false);
    expect(asks({ SERVICE_CONSOLE_PORT: '1', SERVICE_CONSOLE_BIND: 'x' })).toBe(true);
    expect(asks({ SERVICE_CONSOLE_TLS_CERT: '/c', SERVICE_LOG_LEVEL: 'warn' })).toBe(true);
    expect(asks({ SERVICE_CONSOLE_DATABASE_URL: '' })).toBe(true);
    expect(asks({ SERVICE_CONSOLE_DATABASE_URL: 'postgres://h' })).toBe(false);
    expect(asks({ SERVICE_CONSOLE_MODE: 'cloud' })).toBe(false);
    expect(asks({ SERVICE_CONSOLE_PLATFORM: 'standard' })).toBe(false);
  });
});
