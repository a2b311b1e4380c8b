// Decompresses one zstd frame within a bound. Node drops every frame after the first and ignores trailing bytes without
// an error, so the frame's end is found here first: what is not exactly one frame is refused, and no event is lost in
// silence. 25 KB can expand to 800 MB, so the bound is given to the decompressor and not checked afterwards.
import { constants, type ZstdOptions, zstdDecompress, zstdDecompressSync } from 'node:zlib';
import { ZSTD_INLINE_MAX_BYTES, ZSTD_WINDOW_MAX_LOG2 } from '../../machines/limits.ts';

const MAGIC = 0xfd2fb528;
const BLOCK_MAX_BYTES = 131_072;
const BLOCK_RLE = 1;
const BLOCK_RESERVED = 3;
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;

export type DecompressResult =
  | { readonly ok: true; readonly body: Buffer }
  | {
      readonly ok: false;
      readonly code: 'body_too_large' | 'malformed_body';
      readonly detail: string;
    };

/** Decompresses a body that must be one whole zstd frame of at most `maxBytes` content. Never throws. */
export async function decompressBounded(
  compressed: Buffer,
  maxBytes: number,
): Promise<DecompressResult> {
  const mistake = findFrameMistake(compressed);
  if (mistake) return { ok: false, code: 'malformed_body', detail: mistake };
  const options: ZstdOptions = {
    maxOutputLength: maxBytes,
    params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_MAX_LOG2 },
  };
  try {
    // Small bodies are decompressed in place: a round trip through the thread pool costs more than the work.
    const body =
      compressed.length <= ZSTD_INLINE_MAX_BYTES
        ? zstdDecompressSync(compressed, options)
        : await decompress(compressed, options);
    return { ok: true, body };
  } catch (error) {
    const isTooLarge =
      error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    if (isTooLarge)
      return {
        ok: false,
        code: 'body_too_large',
        detail: `the body may hold at most ${maxBytes} bytes after decompression`,
      };
    return { ok: false, code: 'malformed_body', detail: 'the zstd frame is damaged' };
  }
}

function decompress(compressed: Buffer, options: ZstdOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    zstdDecompress(compressed, options, (error, body) => (error ? reject(error) : resolve(body)));
  });
}

/** Walks one frame's headers (RFC 8878, section 3.1.1) to its end; says why the bytes are not exactly one frame. */
function findFrameMistake(bytes: Buffer): string | undefined {
  if (bytes.length < 6 || bytes.readUInt32LE(0) !== MAGIC) return 'the body is not a zstd frame';
  const descriptor = bytes.readUInt8(4);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  if ((descriptor & 0x08) !== 0) return 'the zstd frame uses a reserved bit';
  if ((descriptor & 0x03) !== 0) return 'the zstd frame needs a dictionary';
  let at = 5;
  if (!isSingleSegment) {
    if (10 + (bytes.readUInt8(at) >> 3) > ZSTD_WINDOW_MAX_LOG2)
      return 'the zstd frame needs too large a window';
    at += 1;
  }
  const sizeFlag = descriptor >> 6;
  at += sizeFlag === 0 && isSingleSegment ? 1 : (CONTENT_SIZE_BYTES[sizeFlag] ?? 0);
  for (let isLast = false; !isLast; ) {
    if (at + 3 > bytes.length) return 'the zstd frame is cut off';
    const header = bytes.readUIntLE(at, 3);
    const [kind, size] = [(header >> 1) & 3, header >> 3];
    if (kind === BLOCK_RESERVED || size > BLOCK_MAX_BYTES) return 'the zstd frame is damaged';
    isLast = (header & 1) === 1;
    at += 3 + (kind === BLOCK_RLE ? 1 : size);
  }
  if ((descriptor & 0x04) !== 0) at += 4;
  if (at > bytes.length) return 'the zstd frame is cut off';
  return at < bytes.length ? 'bytes follow the zstd frame' : undefined;
}
