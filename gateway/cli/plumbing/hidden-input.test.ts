// Secrets that come through a pipe: line by line, an end is an empty answer, and nothing is read before it is asked for.
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { linesOf } from './hidden-input.ts';

describe('lines of standard input', () => {
  it('should come one by one, also when they arrive together or late', async () => {
    const input = new PassThrough();
    const next = linesOf(input);
    input.write('one\ntwo\n');
    expect(await next()).toBe('one');
    expect(await next()).toBe('two');
    const third = next();
    input.write('th');
    input.write('ree\r\n');
    expect(await third).toBe('three');
    input.end('last');
    expect(await next()).toBe('last');
    expect(await next()).toBe('');
    expect(await next()).toBe('');
  });

  it('should stay closed between two questions', async () => {
    const input = new PassThrough();
    const next = linesOf(input);
    expect(input.isPaused()).toBe(true);
    input.write('one\n');
    await next();
    expect(input.isPaused()).toBe(true);
  });
});
