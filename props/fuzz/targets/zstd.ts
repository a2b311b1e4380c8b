// Compressed bodies: exactly one frame, never more than the cap, no byte passed over in silence. What is accepted is
// decompressed a second time as a stream, and the frame's own length is found anew.
import { constants, createZstdDecompress, zstdCompressSync } from 'node:zlib';
import { decompressBounded } from '../../../gateway/listener/zstd.ts';
import { demand, type FuzzTarget } from '../target.ts';

const CAP_BYTES = 65_536;
const checked = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
const MAGIC = Buffer.from('28b52ffd', 'hex');
const text = Buffer.from('{"events":[{"message":"what a sensor says"}]}'.repeat(20));
const noise = Buffer.from(
  Array.from({ length: 9_000 }, (_, at) => (at * at * 31 + (at >> 3)) & 0xff),
);

function seeds(): Buffer[] {
  const frame = zstdCompressSync(text);
  const bomb = zstdCompressSync(Buffer.alloc(32 * 1_048_576));
  const skippable = Buffer.from('502a4d180400000001020304', 'hex');
  return [
    frame,
    zstdCompressSync(text, checked),
    zstdCompressSync(noise),
    zstdCompressSync(Buffer.alloc(0)),
    zstdCompressSync(Buffer.alloc(CAP_BYTES)),
    zstdCompressSync(Buffer.alloc(CAP_BYTES + 1)),
    bomb,
    Buffer.concat([frame, frame]),
    Buffer.concat([frame, skippable]),
    Buffer.concat([skippable, frame]),
    Buffer.concat([frame, Buffer.of(0)]),
    frame.subarray(0, -1),
    frame.subarray(0, 9),
    rawFrame(Buffer.of(0x20, 5), [[0, Buffer.from('hello')]]),
    rawFrame(Buffer.of(0x20, 200), [[0, Buffer.from('lying size')]]),
    rawFrame(Buffer.from('e0ffffffffffffffff', 'hex'), [[0, Buffer.from('lying size')]]),
    rawFrame(Buffer.of(0x00, 0xff), [[0, Buffer.from('window')]]),
    rawFrame(Buffer.of(0x00, 0x58), [
      [0, Buffer.from('a')],
      [0, Buffer.alloc(0)],
      [0, Buffer.from('b')],
    ]),
    Buffer.concat([MAGIC, Buffer.of(0x00, 0x58), Buffer.of(0x03, 0xff, 0x0f), Buffer.of(0x41)]),
  ];
}

function rawFrame(
  head: Buffer,
  blocks: readonly (readonly [kind: number, content: Buffer])[],
): Buffer {
  const parts = blocks.flatMap(([kind, content], at) => {
    const header = Buffer.alloc(3);
    header.writeUIntLE(
      (content.length << 3) | (kind << 1) | Number(at === blocks.length - 1),
      0,
      3,
    );
    return [header, content];
  });
  return Buffer.concat([MAGIC, head, ...parts]);
}

const target: FuzzTarget = {
  name: 'zstd',
  modules: ['gateway/listener/zstd.ts'],
  form: 'bytes',
  dictionary: ['\x28\xb5\x2f\xfd', '\x50\x2a\x4d\x18', '\x01\0\0', '\x03\xff\x0f'],
  seeds,
  async run(bytes, note) {
    const result = await decompressBounded(bytes, CAP_BYTES);
    if (!result.ok) {
      demand(result.detail.length < 200, 'a refusal is too large');
      return note(`${result.code} ${result.detail}`);
    }
    note(`accepted ${Math.ceil(Math.log2(result.body.length + 1))}`);
    demand(result.body.length <= CAP_BYTES, 'more than the cap came out');
    const all = await everythingIn(bytes);
    demand(all.equals(result.body), 'another reader finds another content');
    // Every shorter piece of one frame is a torn frame; a frame that ends earlier hides what follows it.
    if (bytes.length > 0) {
      const shorter = await decompressBounded(bytes.subarray(0, -1), CAP_BYTES);
      demand(!shorter.ok, 'the last byte was passed over');
    }
    const longer = await decompressBounded(Buffer.concat([bytes, Buffer.of(0)]), CAP_BYTES);
    demand(!longer.ok, 'a trailing byte was passed over');
    const repeated = await decompressBounded(zstdCompressSync(result.body), CAP_BYTES);
    demand(repeated.ok && repeated.body.equals(result.body), 'a body does not survive its way');
  },
};
export default target;

function everythingIn(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const stream = createZstdDecompress();
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', reject).on('end', () => resolve(Buffer.concat(chunks)));
    stream.end(bytes);
  });
}
