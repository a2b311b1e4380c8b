// DER, one level at a time: every element lies inside its bytes, the children of an element are its whole content, and
// an element that was read is written the same again.
import {
  type DerElement,
  DerError,
  readChildren,
  readElement,
  writeElement,
} from '../../../storage/keys/der.ts';
import { changeDer } from '../mutate-pem.ts';
import { demand, type FuzzTarget } from '../target.ts';

const CHILDREN_MAX = 16;
const LEVELS_MAX = 8;

const target: FuzzTarget = {
  name: 'der',
  modules: ['storage/keys/der.ts'],
  form: 'bytes',
  seeds: () =>
    [
      '3006020100020101',
      '30820004020100ff',
      `3081${'80'}${'0201'.repeat(64)}`,
      `308200ff${'05'.repeat(255)}`,
      '3080020100000000',
      '3f8101020100',
      '0483000001ff',
      '04840000000100',
      '048101ff',
      '30',
      '',
    ].map((hex) => Buffer.from(hex, 'hex')),
  mutate: changeDer,
  run(bytes, note) {
    walk(bytes, 0, note);
  },
};
export default target;

function walk(bytes: Buffer, level: number, note: (feature: string) => void): void {
  const element = orNull(() => readElement(bytes), note);
  if (element === null) return;
  demand(element.raw.length <= bytes.length, 'an element is longer than its bytes');
  demand(element.raw.equals(bytes.subarray(0, element.raw.length)), 'an element lies elsewhere');
  const written = writeElement(element.tag, [element.content]);
  demand(written.equals(element.raw), 'an element has another encoding');
  const children = orNull(() => readChildren(element, element.tag, CHILDREN_MAX), note) ?? [];
  const whole = Buffer.concat(children.map((child: DerElement) => child.raw));
  demand(children.length <= CHILDREN_MAX, 'there are more children than asked for');
  demand(children.length === 0 || whole.equals(element.content), 'a child is lost or made');
  note(`${level} ${children.length}`);
  if (level >= LEVELS_MAX) return;
  for (const child of children) walk(child.content, level + 1, note);
}

function orNull<T>(read: () => T, note: (feature: string) => void): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    note(error.message.replaceAll(/\d+/g, '#'));
    return null;
  }
}
