// CSV that somebody opens in a spreadsheet: no cell is computed, whatever nodes and people wrote, and whichever sign the
// spreadsheet of a country takes for the end of a cell.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { auditCsvLine } from '../../gateway/operator-plane/audit/audit-export.ts';
import { csvCell, exportChunks } from '../../gateway/operator-plane/telemetry/event-export.ts';
import { storedEvent } from './spreadsheets.fixture.ts';

/** What begins a formula in Excel, LibreOffice, Google Sheets, or their forms for wide characters. */
const STARTS = ['=', '+', '-', '@', '\t', '\r', '\uFF1D', '\uFF0B', '\uFF0D', '\uFF20'];
const FORMULA = /^["\s]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/;
const SEPARATORS = [',', ';', '\t', '|'];
const PAYLOADS = STARTS.flatMap((start) => [
  ...[`${start}1+1`, ` ${start}1+1`, `"${start}1+1"`, `x;${start}1+1`, `x; ${start}1+1`],
  ...[`x;"${start}1+1"`, `x|${start}1+1`, `x\n${start}1+1`, `x\r\n${start}1+1`, `";"${start}x`],
  ...[`x\t${start}1+1`, `${start}cmd|' /C calc'!A0`, `x,${start}1+1`, `x","${start}1+1`],
]);

/** The cells of one line as a spreadsheet reads them: a quote counts at the beginning of a cell alone. */
function cellsOf(line: string, separator: string): readonly string[] {
  const cells: string[] = [];
  let at = 0;
  for (;;) {
    let cell = '';
    if (line[at] === '"') {
      at += 1;
      while (at < line.length && !(line[at] === '"' && line[at + 1] !== '"')) {
        if (line[at] === '"') at += 1;
        cell += line[at];
        at += 1;
      }
      at += 1;
    }
    while (at < line.length && line[at] !== separator) {
      cell += line[at];
      at += 1;
    }
    cells.push(cell);
    if (at >= line.length) return cells;
    at += 1;
  }
}

function expectHarmless(csv: string): void {
  for (const separator of SEPARATORS) {
    for (const line of csv.split(/\r\n|\n|\r/)) {
      for (const cell of cellsOf(line, separator)) expect(cell).not.toMatch(FORMULA);
    }
  }
}

describe('a cell of CSV', () => {
  it('never is a formula', () => {
    for (const payload of PAYLOADS) expectHarmless(`first,${csvCell(payload)},last`);
    const piece = fc.oneof(fc.constantFrom(...STARTS, ...SEPARATORS, '"', ' ', "'", '\n', 'x'));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        expectHarmless(`first,${csvCell(pieces.join(''))},last`);
      }),
    );
  });

  it('should keep numbers and plain text as they are', () => {
    expect([csvCell(-1), csvCell('/usr/bin/id -u'), csvCell('a=b; c-d')]).toEqual([
      ...['-1', '/usr/bin/id -u', 'a=b; c-d'],
    ]);
  });
});

describe('an export of events', () => {
  it('should hold no formula in any of its columns', async () => {
    for (const payload of PAYLOADS) {
      const chunks = exportChunks({
        ...{ search: async () => [], question: {} as never, format: 'csv' },
        firstPage: [storedEvent(payload)],
      });
      let csv = '';
      for await (const chunk of chunks) csv += chunk;
      expect(csv.trimEnd().split('\r\n')).toHaveLength(2);
      expectHarmless(csv);
    }
  });
});

describe('an export of the audit log', () => {
  it('should hold no formula in any of its columns', () => {
    for (const payload of PAYLOADS) {
      const facts = { [payload]: payload };
      const line = auditCsvLine({
        ...{ audit_id: 1, at: payload, actor: payload, action: payload, target: payload },
        ...{ result: payload, from: payload, before: facts, after: facts, detail: facts },
        ...{ sequence: 1, hash: payload },
      });
      expectHarmless(line);
    }
  });
});
