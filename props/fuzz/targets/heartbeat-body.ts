// The body of POST /sensors/heartbeat.
import { HeartbeatRequest } from '../../../machines/wire/heartbeat.ts';
import { bodyTarget } from '../body-target.ts';
import { fullEvent, heartbeatRequest, plainEvent } from '../samples.ts';

const { telecom: _telecom, ...plain } = heartbeatRequest;

export default bodyTarget({
  name: 'heartbeat-body',
  schema: HeartbeatRequest,
  samples: [
    heartbeatRequest,
    { ...plain, events: [], connections: [], listening_services: [], flows: [] },
    { ...plain, events: [fullEvent, fullEvent] },
    { ...plain, events: Array.from({ length: 40 }, () => plainEvent) },
    { ...plain, events: Array.from({ length: 400 }, () => ({})) },
  ],
});
