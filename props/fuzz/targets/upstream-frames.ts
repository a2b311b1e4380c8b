// What a Sensor sends over its stream, read by the Console.
import { parseFrame } from '../../../gateway/sensor-plane/stream-frames.ts';
import {
  EventsFrame,
  GoodbyeFrame,
  HelloFrame,
  PongFrame,
  StatusFrame,
} from '../../../machines/wire/stream.ts';
import { json, texts, upstreamFrames } from '../samples.ts';
import { checkStorable } from '../storable.ts';
import type { FuzzTarget } from '../target.ts';
import { checkParsed } from '../wire-oracle.ts';

const AnyFrame = { anyOf: [HelloFrame, EventsFrame, PongFrame, StatusFrame, GoodbyeFrame] };

const target: FuzzTarget = {
  name: 'upstream-frames',
  modules: ['gateway/sensor-plane/stream-frames.ts', 'machines/wire/parse.ts'],
  form: 'json',
  dictionary: ['"type":', ...upstreamFrames.map((frame) => JSON.stringify(frame.type))],
  seeds: () => [
    ...upstreamFrames.map(json),
    ...texts('{"type":"toString"}', '{"type":"__proto__"}', '[]', 'null', '{"type":["hello"]}'),
  ],
  run(bytes, note) {
    // The stream hands text on that its library has decoded, so broken UTF-8 never comes this far.
    const frame = checkParsed(bytes.toString(), parseFrame, AnyFrame, note);
    if (frame !== null) note(frame.type);
    if (frame?.type === 'events') checkStorable(frame.events);
  },
};
export default target;
