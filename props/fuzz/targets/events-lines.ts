// The body of POST /sensors/events as lines; number, stream and channel come from headers, which the input's first
// three lines stand for.
import { parseLines } from '../../../gateway/sensor-plane/events-route.ts';
import { EventsRequest } from '../../../machines/wire/heartbeat.ts';
import { CHANNEL_HEADER, SEQUENCE_HEADER, STREAM_HEADER } from '../../../machines/wire/scalars.ts';
import { fitsSchema } from '../fits-schema.ts';
import { fullEvent, plainEvent } from '../samples.ts';
import { checkStorable } from '../storable.ts';
import { demand, type FuzzTarget } from '../target.ts';
import { bodyText, checkRefusal } from '../wire-oracle.ts';

const NAMES = [STREAM_HEADER, SEQUENCE_HEADER, CHANNEL_HEADER];
const HEAD = `${'0'.repeat(32)}\n1\nbatch\n`;
const lines = (...events: readonly unknown[]): Buffer =>
  Buffer.from(HEAD + events.map((event) => `${JSON.stringify(event)}\n`).join(''));

const target: FuzzTarget = {
  name: 'events-lines',
  modules: ['gateway/sensor-plane/events-route.ts', 'machines/wire/parse.ts'],
  form: 'lines',
  seeds: () => [
    lines(plainEvent, fullEvent),
    lines(),
    Buffer.from(`${HEAD}${JSON.stringify(plainEvent)}`),
    Buffer.from(`${HEAD}\n\n`),
    Buffer.from(`${HEAD}{"a":1}\r\n[]\n"`),
    Buffer.from(`\n99999999999999999999\nnothing\n${JSON.stringify(plainEvent)}\n`),
    lines(...Array.from({ length: 50 }, () => plainEvent)),
  ],
  run(bytes, note) {
    const text = bodyText(bytes);
    if (text === null) return note('not UTF-8');
    const head = text.split('\n', NAMES.length);
    const body = text.slice(head.join('\n').length + 1);
    const headers = new Map(
      head.flatMap((one, at) => (one === '' ? [] : [[NAMES[at] ?? '', one]])),
    );
    const parsed = parseLines(body, headers);
    if (!parsed.ok) return checkRefusal(parsed, note);
    const { value } = parsed;
    demand(fitsSchema(value, EventsRequest), 'an accepted batch does not fit its schema');
    const written = body.endsWith('\n') ? body.slice(0, -1) : body;
    demand(value.events.length === written.split('\n').length, 'a line was lost or made');
    demand(String(value.sequence) === String(Number(head[1])), 'the number is another one');
    demand(value.stream_id === head[0], 'the stream is another one');
    checkStorable(value.events);
    note('accepted');
  },
};
export default target;
