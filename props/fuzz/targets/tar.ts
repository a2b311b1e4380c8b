// An archive of the engine's bundle, read forward: however its bytes arrive, the same entries come out or the same reason
// why none do; what an entry holds stands in the archive, in order, and never twice.
import { readTar } from '../../../sensor/engine/tetragon/tar.ts';
import type { Random } from '../random.ts';
import { demand, demandSame, type FuzzTarget, lastWords } from '../target.ts';

const BLOCK = 512;
const PIECE_BYTES = 311;
const REASONS =
  /too many entries|too long|too early|no tar archive|too large|too large when unpacked/;

type Read = {
  readonly entries: readonly { readonly path: string; readonly isFile: boolean; body: string }[];
  readonly reason: string | null;
};

const target: FuzzTarget = {
  name: 'tar',
  modules: ['sensor/engine/tetragon/tar.ts'],
  form: 'bytes',
  seeds: () => [
    archive([entry('manifest.json', '{"version":"1.7.0"}'), entry('tetragon', 'x'.repeat(700))]),
    archive([entry('bpf/', '', '5'), entry('bpf/a.o', 'y'.repeat(BLOCK))]),
    archive([entry('././@LongLink', `${'d/'.repeat(80)}name\0`, 'L'), entry('short', 'body')]),
    archive([entry('pax', '20 path=long/name.o\n', 'x'), entry('short', 'body')]),
    archive([entry('link', '', '2'), entry('global', '11 a=bcdef\n', 'g')]),
    entry('cut off', 'z'.repeat(900)).subarray(0, 800),
    Buffer.alloc(BLOCK * 2),
    Buffer.alloc(0),
  ],
  mutate: changeHeaders,
  async run(bytes, note) {
    const whole = await read([bytes]);
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      pieces.push(bytes.subarray(at, at + PIECE_BYTES));
    demandSame(await read(pieces), whole, 'pieces are read otherwise');
    demand(whole.reason === null || REASONS.test(whole.reason), `refused as ${whole.reason}`);
    const text = bytes.toString('latin1');
    let from = 0;
    for (const { path, body } of whole.entries) {
      demand(!path.includes('\0'), 'a path holds a zero byte');
      const found = text.indexOf(body, from);
      demand(found >= 0, 'a body does not stand in the archive');
      from = found + body.length;
    }
    note(`${Math.min(whole.entries.length, 6)} ${lastWords(whole.reason ?? 'whole')}`);
  },
};
export default target;

async function read(pieces: readonly Buffer[]): Promise<Read> {
  const entries: { path: string; isFile: boolean; body: string }[] = [];
  try {
    for await (const { path, isFile, body } of readTar(arriving(pieces))) {
      const chunks: Buffer[] = [];
      for await (const chunk of body) chunks.push(Buffer.from(chunk));
      entries.push({ path, isFile, body: Buffer.concat(chunks).toString('latin1') });
    }
    return { entries, reason: null };
  } catch (error) {
    // What is no plain reason is a fault of the reader itself.
    if (!(error instanceof Error) || error.constructor !== Error) throw error;
    return { entries, reason: error.message };
  }
}

async function* arriving(pieces: readonly Buffer[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

function archive(entries: readonly Buffer[]): Buffer {
  return Buffer.concat([...entries, Buffer.alloc(BLOCK * 2)]);
}

function entry(name: string, body: string, type = '0'): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.write(name.slice(0, 100), 0);
  header.write('0000644\0', 100);
  header.write(`${body.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write(type, 156);
  header.write('ustar\u000000', 257);
  const padding = Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK);
  return Buffer.concat([withSum(header), Buffer.from(body), padding]);
}

/** Changes a byte or a field of one block and puts its checksum right, so that the change is read. */
function changeHeaders(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes);
  const blocks = Math.floor(copy.length / BLOCK);
  if (blocks === 0) return copy;
  const header = copy.subarray(random.below(blocks) * BLOCK).subarray(0, BLOCK);
  const [at, values] = random.pick([
    [124, ['00000000000\0', '77777777777\0', '00000001000\0', '0000000000 \0', '-0000000001\0']],
    [156, ['0', '5', 'L', 'x', 'g', '2', '\0', '7']],
    [0, ['../../etc/passwd\0', '/abs\0', '\0', 'bpf/a.o\0']],
    [345, ['prefix\0', '\0', '..\0']],
    [257, ['ustar', 'xxxxx']],
  ] as const);
  if (random.once(4)) header[random.below(BLOCK)] = random.below(256);
  else header.write(random.pick<string>(values), at, 'latin1');
  withSum(header);
  return copy;
}

function withSum(header: Buffer): Buffer {
  header.fill(0x20, 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}
