// Bytes of an engine's export cut into lines: what is consumed is whole lines, each is one of a line, too long,
// malformed or empty, and the order stays.
import { cutLines } from '../../../sensor/engine/export-lines.ts';
import { texts } from '../samples.ts';
import { demand, demandSame, type FuzzTarget } from '../target.ts';

const LINES_MAX = 20;
const LINE_MAX_BYTES = 64;

const target: FuzzTarget = {
  name: 'export-lines',
  modules: ['sensor/engine/export-lines.ts'],
  form: 'bytes',
  dictionary: ['\n', '{}', '{"a":1}\n', '\r\n', '}\n{'],
  seeds: () => [
    ...texts('{}\n{"a":1}\n', '\n\n{}\ntorn', '{\n}\n', `{${'x'.repeat(100)}}\n{}\n`, '[]\n{}\r\n'),
    Buffer.from('{}\n'.repeat(50)),
    Buffer.of(0x7b, 0xff, 0x7d, 0x0a),
  ],
  run(bytes, note) {
    const cut = cutLines(bytes, LINES_MAX, LINE_MAX_BYTES);
    demand(cut.lines.length <= LINES_MAX, 'more lines than asked for');
    const consumed = bytes.subarray(0, cut.consumed);
    demand(cut.consumed === 0 || consumed.at(-1) === 0x0a, 'half a line is consumed');
    const whole = splitLines(consumed);
    const framed = whole.filter(
      (line) => line.length >= 2 && line[0] === 0x7b && line.at(-1) === 0x7d,
    );
    const short = framed.filter((line) => line.length <= LINE_MAX_BYTES);
    demandSame(
      cut.lines,
      short.map((line) => line.toString()),
      'the lines are others',
    );
    const long = whole.filter((line) => line.length > LINE_MAX_BYTES).length;
    const rest = whole.filter((line) => line.length > 0 && line.length <= LINE_MAX_BYTES).length;
    demand(cut.tooLong === long, 'long lines are counted otherwise');
    demand(cut.malformed === rest - short.length, 'malformed lines are counted otherwise');
    const isAll = cut.lines.length === LINES_MAX || !bytes.subarray(cut.consumed).includes(0x0a);
    demand(isAll, 'a whole line is left behind');
    note(
      `${Math.min(cut.lines.length, 4)} ${Math.min(cut.tooLong, 2)} ${Math.min(cut.malformed, 2)}`,
    );
  },
};
export default target;

function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start);
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}
