import { createColors } from 'picocolors';
import { describe, expect, it } from 'vitest';
import { printRecord } from './output.ts';
import type { Terminal } from './terminal.ts';

const LONG = 'a reason that is quite a bit longer than fits the line';
const view = {
  name: () => 'one',
  empty: 'none',
  columns: [
    { head: 'NAME', read: () => 'one' },
    { head: 'REASONS', read: () => [LONG, 'short'] },
  ],
};

function printed(columns: number | undefined): string {
  const lines: string[] = [];
  const terminal: Terminal = {
    out: (line) => void lines.push(line),
    talk: (line) => void lines.push(line),
    ...{ isInteractive: false, columns, colors: createColors(false) },
  };
  printRecord(terminal, {}, view, { format: 'table', headers: true });
  return lines.join('\n');
}

describe('a record', () => {
  it('should be one line a value where it is piped on', () => {
    expect(printed(undefined)).toBe(`NAME      one\nREASONS   ${LONG}\n          short`);
  });

  it('should break between words where the terminal ends, and keep the column of values', () => {
    expect(printed(50)).toBe(
      'NAME      one\nREASONS   a reason that is quite a bit longer than\n          fits the line\n          short',
    );
  });
});
