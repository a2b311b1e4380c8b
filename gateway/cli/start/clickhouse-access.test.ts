// Where the analytics store is asked, from the address an operator wrote.
import { describe, expect, it } from 'vitest';
import { clickhouseAccessOf } from './clickhouse-access.ts';

describe('the address of the analytics store', () => {
  it.each([
    ['http://ch.example', 'http://ch.example:8123/'],
    ['http://u:p%3A80@ch.example/events', 'http://ch.example:8123/events'],
    ['http://[fd00::8]', 'http://[fd00::8]:8123/'],
    ['https://ch.example', 'https://ch.example:8443/'],
    ['http://ch.example:80', 'http://ch.example/'],
    ['https://ch.example:443/x', 'https://ch.example/x'],
    ['http://ch.example:9999', 'http://ch.example:9999/'],
    ['http://[fd00::8]:80/', 'http://[fd00::8]/'],
  ])('should take port 8123 where none is written: %s', (url, asked) => {
    expect(clickhouseAccessOf(url)?.url).toBe(asked);
  });

  it('should take user and password out of it', () => {
    expect(clickhouseAccessOf('http://u:p%3A80@ch.example')).toEqual({
      ...{ url: 'http://ch.example:8123/', username: 'u', password: 'p:80' },
    });
    expect(clickhouseAccessOf(null)).toBeNull();
  });
});
