// What the Console sends over the stream, read by the Sensor. It takes a known frame as it is and guards each field
// where it is used, so the promise is: a known type with the fields that are handed on, or nothing.
import { JSON_DEPTH_MAX } from '../../../machines/limits.ts';
import { frameOf } from '../../../sensor/transport/stream-socket.ts';
import { depthOf } from '../fits-schema.ts';
import { downstreamFrames, json, texts } from '../samples.ts';
import { demand, demandSame, type FuzzTarget } from '../target.ts';

const TYPES = new Set<string>(downstreamFrames.map((frame) => frame.type));

const target: FuzzTarget = {
  name: 'downstream-frames',
  modules: ['sensor/transport/stream-socket.ts', 'machines/wire/parse.ts'],
  form: 'json',
  dictionary: ['"type":', ...[...TYPES].map((type) => JSON.stringify(type))],
  seeds: () => [
    ...downstreamFrames.map(json),
    ...texts(
      '{"type":"welcome"}',
      '{"type":"welcome","settings":null,"acknowledged":"x"}',
      '{"type":"ack","sequence":{"toString":null}}',
      '{"type":"refused","code":{"toString":null}}',
      '{"type":"retry_after","ms":{"valueOf":null,"toString":null}}',
      '{"type":"refresh","what":"certificate"}',
      '{"type":"unheard"}',
      '{"type":["ping"]}',
    ),
  ],
  run(bytes, note) {
    const frame = frameOf(bytes.toString());
    if (frame === null) return note('ignored');
    note(frame.type);
    demand(TYPES.has(frame.type), 'a frame of an unknown type is handed on');
    demand(depthOf(frame) <= JSON_DEPTH_MAX, 'a frame is nested too deep');
    demandSame(frameOf(JSON.stringify(frame)), frame, 'a frame does not parse again');
    readAsTheStreamDoes(frame);
  },
};
export default target;

/** Field by field, as the stream's actor uses them: each must be of its own type when it is there. */
function readAsTheStreamDoes(frame: object): void {
  const fields = frame as Readonly<Record<string, unknown>>;
  for (const name of ['acknowledged', 'sequence', 'ms']) {
    const value = fields[name];
    demand(value === undefined || typeof value === 'number', `${name} is no number`);
  }
  for (const name of ['code', 'detail', 'at']) {
    const value = fields[name];
    demand(value === undefined || typeof value === 'string', `${name} is no text`);
  }
}
