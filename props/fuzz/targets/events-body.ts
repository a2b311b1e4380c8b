// The body of POST /sensors/events as one document; what is accepted can be written for the event store.
import { EventsRequest } from '../../../machines/wire/heartbeat.ts';
import { bodyTarget } from '../body-target.ts';
import { eventsRequest, fullEvent } from '../samples.ts';
import { checkStorable } from '../storable.ts';

export default bodyTarget({
  name: 'events-body',
  schema: EventsRequest,
  samples: [
    eventsRequest,
    { ...eventsRequest, events: [] },
    { ...eventsRequest, events: [{ ...fullEvent, message: '\ud800\0' }] },
    { ...eventsRequest, events: [{ ...fullEvent, observed_at: '9999-99-99T99:99:99Z' }] },
    { ...eventsRequest, sequence: -1, channel: 'nothing' },
  ],
  check: ({ events }) => checkStorable(events),
});
