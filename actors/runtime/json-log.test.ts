import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const SCRIPT = `
  const { createLogger } = await import(${JSON.stringify(join(import.meta.dirname, 'json-log.ts'))});
  createLogger('info').warn({ token: 'svce_x', request: { authorization: 'Bearer svck_x' }, sensorId: 'a' }, 'refused');
  createLogger('warn').info('not said');`;

describe('log', () => {
  it('should write one JSON line on standard error, with secrets cut out and nothing below its level', () => {
    const ran = spawnSync(process.execPath, ['--input-type=module', '-e', SCRIPT], {
      encoding: 'utf8',
    });
    expect(ran.stdout).toBe('');
    const lines = ran.stderr.trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'warn',
      msg: 'refused',
      sensorId: 'a',
      token: '[hidden]',
      request: { authorization: '[hidden]' },
    });
  });
});
