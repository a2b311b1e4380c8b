// How many rows the end of a Parquet file tells, whatever columns stand before the number, and nothing for a file that was cut.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { footerBytesOf, rowsOfParquet } from './parquet-footer.ts';

/** A number as the compact protocol has it: seven bits a byte. */
function varint(value: number): readonly number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 0x80);
  }
}
/** Version, schema and rows, as every writer begins; then the group of rows, which nobody reads. */
function endOf(names: readonly string[], rows: number): Buffer {
  const columns = names.flatMap((name) => {
    const bytes = Buffer.from(name);
    // Type, repetition, name, and a logical type that is a structure of a structure.
    return [
      0x15,
      12,
      0x25,
      2,
      ...[0x18, ...varint(bytes.length), ...bytes],
      ...[0x6c, 0x1c, 0, 0, 0],
    ];
  });
  const size = names.length < 15 ? [(names.length << 4) | 12] : [0xfc, ...varint(names.length)];
  const metadata = [0x15, 4, 0x19, ...size, ...columns, 0x16, ...varint(rows * 2), 0x19, 0x0c, 0];
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(metadata.length);
  trailer.write('PAR1', 4);
  return Buffer.concat([Buffer.from('PAR1 data'), Buffer.from(metadata), trailer]);
}
const names = fc.array(fc.string({ maxLength: 300 }), { maxLength: 60 });

describe('the end of a Parquet file', () => {
  it('should tell its rows behind columns of any number and length', () => {
    fc.assert(
      fc.property(names, fc.nat({ max: 2 ** 31 }), (columns, rows) => {
        expect(rowsOfParquet(endOf(columns, rows))).toBe(rows);
      }),
    );
  });

  it('should tell nothing when it was cut or is none', () => {
    const end = endOf(['event_id', 'message'], 50_000);
    for (let bytes = 0; bytes < end.length; bytes += 1) {
      expect(rowsOfParquet(end.subarray(0, bytes))).toBe(null);
    }
    expect(rowsOfParquet(end.subarray(end.length - 12))).toBe(null);
    expect(footerBytesOf(Buffer.from('no Parquet at all'))).toBe(null);
  });

  it('should never throw, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const trailer = Buffer.alloc(8);
        trailer.writeUInt32LE(bytes.length);
        trailer.write('PAR1', 4);
        const rows = rowsOfParquet(Buffer.concat([Buffer.from('PAR1'), bytes, trailer]));
        expect(rows === null || Number.isFinite(rows)).toBe(true);
      }),
    );
  });
});
