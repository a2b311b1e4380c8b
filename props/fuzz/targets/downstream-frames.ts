// What the Console sends over the stream, read by the Sensor. It takes a known frame as it is and guards each field
// where it is used, so the promise is: a known type with the fields that are handed on, or nothing.
import { JSON_DEPTH_MAX } from '../../../machines/limits.ts';
import type { DownstreamFrame } from '../../../machines/wire/stream.ts';
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

/** Field by field, as the stream's actor uses them: each is of its own type. */
function readAsTheStreamDoes(frame: DownstreamFrame): void {
  switch (frame.type) {
    case 'welcome':
      demand(typeof frame.acknowledged === 'number', 'what is acknowledged is no number');
      demand(Number.isFinite(frame.settings.heartbeat_interval_seconds), 'an interval is none');
      break;
    case 'ping':
      demand(typeof frame.at === 'string', 'a ping has no time');
      break;
    case 'ack':
      demand(Number.isSafeInteger(frame.sequence), 'an acknowledgment has no number');
      break;
    case 'refused':
      demand(Number.isSafeInteger(frame.sequence), 'a refusal has no number');
      demand(typeof frame.code === 'string' && typeof frame.detail === 'string', 'no text');
      break;
    case 'refresh':
      demand(Array.isArray(frame.what), 'a refresh names nothing');
      break;
    case 'retry_after':
      demand(Number.isSafeInteger(frame.ms) && frame.ms >= 0, 'a pause is no time');
      break;
    default:
  }
}
