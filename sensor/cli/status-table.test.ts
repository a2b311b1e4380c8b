import { describe, expect, it } from 'vitest';
import { tableOf } from './status-table.ts';

describe('a table of names and values', () => {
  it('should put values under each other, and one line a value where there is no terminal', () => {
    const long = 'word '.repeat(60).trim();
    expect(
      tableOf(
        [
          ['NAME', 'one', long],
          ['LONGER NAME', 'x'],
        ],
        undefined,
      ),
    ).toBe(`NAME         one\n             ${long}\nLONGER NAME  x\n`);
  });

  it('should break between words where the terminal ends, and keep their column', () => {
    const text = tableOf([['NAME', 'a reason that is quite a bit longer than fits the line']], 46);
    expect(text).toBe('NAME  a reason that is quite a bit longer than\n      fits the line\n');
  });

  it('should let nobody steer the terminal', () => {
    expect(tableOf([['NAME', 'red \u001b[31m\nLOST  0']], undefined)).toBe(
      'NAME  red \\u001b[31m\\u000aLOST  0\n',
    );
  });
});
