import { describe, expect, it } from 'vitest';
import { insertTargetOf, planRequest, quote } from './chdb-request.ts';

describe('chdb request', () => {
  it('should read the target of an insert and quote what is a value', () => {
    expect(insertTargetOf('INSERT INTO events (`a`, b) FORMAT JSONEachRow\n')).toEqual({
      table: 'events',
      columns: ['a', 'b'],
      format: 'JSONEachRow',
    });
    expect(insertTargetOf('INSERT INTO t SELECT 1')).toBeNull();
    expect(quote("a'\\")).toBe("'a\\'\\\\'");
  });

  it('should refuse a setting whose name is none', () => {
    expect(planRequest(new URL('http://x/?query=SELECT%201&a%3B%20DROP=1'), '')).toContain(
      'UNKNOWN_SETTING',
    );
  });
});
