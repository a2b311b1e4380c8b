// One batch as the text of an insert. This is the hottest path of the product, so the constant part is made once per
// batch and each event costs one flat object and one native JSON.stringify. Only known fields are copied: a sender
// cannot name a column of the Console's own, and unknown fields deeper down are dropped by the store.
// invariant: I9
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import type { EventBatch } from '../ports/telemetry/event-store.ts';
import { filedAtNanos } from '../ports/telemetry/stored-event.ts';

/** JSONEachRow lines, each with its line end. */
export function encodeBatch(batch: EventBatch): string {
  const constant = `{"sensor_id":${JSON.stringify(batch.sensorId)},"node_name":${JSON.stringify(batch.nodeName)},"received_at":${batch.receivedAtMs},"stream_id":${JSON.stringify(batch.streamId)},"channel":"${batch.channel}","sequence":${batch.sequence},"batch_digest":${JSON.stringify(batch.digest)},"observed_at":`;
  let text = '';
  for (const event of batch.events) {
    text += constant;
    text += filedAtNanos(event, batch.receivedAtMs);
    text += ',';
    text += encodeEvent(event);
    text += '\n';
  }
  return text;
}

/** The event's own columns without the opening brace. */
function encodeEvent(event: RuntimeEvent): string {
  const columns = {
    event_id: event.event_id,
    schema_version: event.schema_version,
    event_kind: event.event_kind,
    severity: event.severity,
    message: event.message,
    process: event.process,
    parent: event.parent,
    ancestors: event.ancestors,
    workload: event.workload,
    network_namespace: event.network_namespace,
    network: event.network,
    file: event.file,
    policy: event.policy,
    mitre: event.mitre,
    anomaly_score: event.anomaly_score,
    occurrences: event.occurrences,
    first_observed_at: event.first_observed_at,
    telecom: event.telecom,
    raw_kind: event.raw_kind,
  };
  let text = JSON.stringify(columns);
  // JSON.stringify writes half surrogates, and nothing else, as \udXXX; the store cannot read those.
  if (text.includes('\\ud')) text = JSON.stringify(columns, wellFormed);
  return text.slice(1);
}

function wellFormed(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}
