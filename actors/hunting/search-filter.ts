// The filter of a saved search as a question for the event store.
import type { SearchFilter } from '../../machines/console/hunting/saved-search.ts';
import { parseCondition } from '../../machines/detection/condition-parser.ts';
import type { EventScope } from '../../storage/ports/telemetry/event-store.ts';

/** Not ok: the condition cannot be read, any more or at all. */
export function questionOfFilter(
  filter: SearchFilter,
):
  | { readonly ok: true; readonly question: EventScope }
  | { readonly ok: false; readonly detail: string } {
  const read = filter.q === undefined ? null : parseCondition(filter.q);
  if (read?.ok === false) {
    return { ok: false, detail: `at character ${read.at + 1}: ${read.detail}` };
  }
  const { text, binary, event_kind: kinds, severity, sensor_id: sensorId } = filter;
  return {
    ok: true,
    question: {
      ...(read === null ? {} : { condition: read.condition }),
      ...(text === undefined ? {} : { text }),
      ...(binary === undefined ? {} : { binaryContains: binary }),
      ...(kinds === undefined ? {} : { eventKinds: kinds }),
      ...(severity === undefined ? {} : { severities: severity }),
      ...(sensorId === undefined ? {} : { sensorId }),
    },
  };
}
