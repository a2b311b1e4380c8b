// Positions in a list: only what the signer sealed for this list and filter is opened, and it comes back as it was.
import {
  type CursorPosition,
  createCursorSigner,
} from '../../../gateway/operator-plane/plumbing/cursor.ts';
import { texts } from '../samples.ts';
import { demand, demandSame, type FuzzTarget } from '../target.ts';
import { checkRefusal } from '../wire-oracle.ts';

const signer = createCursorSigner(Buffer.alloc(32, 7));
const FILTER = { order: 'ascending', severity: ['high'], from: undefined };
const SEALED: readonly CursorPosition[] = [
  { f: 1, t: null, a: '2026-03-04T05:06:07Z', e: '0'.repeat(32) },
  { name: 'é', n: -1 },
  {},
];
const OPENED = new Map(
  SEALED.map((position) => [signer.seal('events', FILTER, position), position]),
);

const target: FuzzTarget = {
  name: 'cursor',
  modules: ['gateway/operator-plane/plumbing/cursor.ts'],
  form: 'text',
  dictionary: ['.', '=', 'e30', '_', '-'],
  seeds: () =>
    texts(
      ...OPENED.keys(),
      signer.seal('sensors', FILTER, {}),
      signer.seal('events', {}, {}),
      '',
      '.',
      'a.b.c',
      'x'.repeat(3_000),
    ),
  run(bytes, note) {
    const text = bytes.toString();
    const opened = signer.open('events', FILTER, text);
    if (!opened.ok) return checkRefusal(opened, note);
    const sealed = OPENED.get(text);
    demand(sealed !== undefined, `a cursor that nobody sealed was opened: ${text.slice(0, 200)}`);
    demandSame(opened.position, sealed, 'a position is another one');
    demand(!signer.open('sensors', FILTER, text).ok, 'a cursor opens another list');
    demand(!signer.open('events', { order: 'x' }, text).ok, 'a cursor opens another filter');
    note('opened');
  },
};
export default target;
