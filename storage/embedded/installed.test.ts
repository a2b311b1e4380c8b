import { describe, expect, it } from 'vitest';
import { demandInstalled } from './installed.ts';

describe('an embedded database', () => {
  it('should be there in a checkout', () => {
    expect(() => demandInstalled('postgresql')).not.toThrow();
    expect(() => demandInstalled('clickhouse')).not.toThrow();
  });

  it('should be named with the setting that makes it needless when it is not installed', () => {
    const none = { postgresql: 'no-such-package', clickhouse: 'nor-this-one' };
    expect(() => demandInstalled('postgresql', none)).toThrow('SERVICE_CONSOLE_DATABASE_URL');
    expect(() => demandInstalled('clickhouse', none)).toThrow('SERVICE_CONSOLE_CLICKHOUSE_URL');
  });
});
