import { createHash } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../props/runs.ts';
import { decompressBounded } from './zstd.ts';

const MAX_BYTES = 4 * 1024 * 1024;
const codeOf = async (bytes: Buffer, maxBytes = MAX_BYTES) => {
  const result = await decompressBounded(bytes, maxBytes);
  return result.ok ? result.body : result.code;
};
const bodyOf = async (bytes: Buffer): Promise<Uint8Array> => {
  const body = await codeOf(bytes);
  if (typeof body === 'string') throw new Error(body);
  return body;
};
const frame = zstdCompressSync(Buffer.from('{"events":[]}'.repeat(50)));

describe('decompressBounded', () => {
  it('should return any content unchanged, small and large', async () => {
    const some = fc.uint8Array({ minLength: 1, maxLength: 3_000, size: 'max' });
    const sizes = fc.integer({ min: 0, max: 300_000 });
    const anyBytes = fc.oneof(
      some.map((bytes) => Buffer.from(bytes)),
      fc.tuple(some, sizes).map(([bytes, size]) => Buffer.alloc(size, bytes)),
      // What nothing can make smaller.
      fc
        .tuple(some, sizes)
        .map(([seed, outputLength]) =>
          createHash('shake256', { outputLength }).update(seed).digest(),
        ),
    );
    await fc.assert(
      fc.asyncProperty(anyBytes, async (body) => {
        expect(body.equals(await bodyOf(zstdCompressSync(body)))).toBe(true);
      }),
      { numRuns: runs(50) },
    );
    const large = Buffer.alloc(MAX_BYTES, 'abcdefgh1');
    expect(large.equals(await bodyOf(zstdCompressSync(large)))).toBe(true);
  });

  it('should stop a bomb early', async () => {
    const bomb = zstdCompressSync(Buffer.alloc(800 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(100_000);
    const before = process.memoryUsage().rss;
    expect(await codeOf(bomb)).toBe('body_too_large');
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
    expect(await codeOf(frame, 10)).toBe('body_too_large');
  });

  it.each([
    ['two frames', Buffer.concat([frame, frame])],
    ['trailing bytes', Buffer.concat([frame, Buffer.of(0)])],
    ['a skippable frame', Buffer.from('502a4d1800000000', 'hex')],
    ['a skippable frame after', Buffer.concat([frame, Buffer.from('502a4d1800000000', 'hex')])],
    ['a cut frame', frame.subarray(0, -1)],
    ['a header alone', frame.subarray(0, 6)],
    ['nothing', Buffer.alloc(0)],
    ['plain JSON', Buffer.from('{"events":[]}')],
    ['a window of 2^27', Buffer.from('28b52ffd0088010000', 'hex')],
    ['a dictionary', Buffer.from('28b52ffd21010101000000', 'hex')],
  ])('should refuse %s', async (_name, bytes) => {
    expect(await codeOf(bytes)).toBe('malformed_body');
  });

  it('should never throw on damaged frames', async () => {
    const damage = fc.tuple(fc.nat(frame.length - 1), fc.integer({ min: 1, max: 255 }));
    await fc.assert(
      fc.asyncProperty(damage, async ([at, bits]) => {
        const bytes = Buffer.from(frame);
        bytes[at] = (bytes[at] ?? 0) ^ bits;
        const result = await codeOf(bytes);
        expect(Buffer.isBuffer(result) || result === 'malformed_body').toBe(true);
      }),
    );
  });
});
