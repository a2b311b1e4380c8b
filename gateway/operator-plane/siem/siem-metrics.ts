// What is told of SIEM destinations to whoever watches the Console: what the loop saw last; where another Console runs it
// nothing is told here.
import { Gauge, type Registry } from '@prometheus-io/client';
import type { SiemForwarder } from '../../../actors/siem/siem-forwarder.ts';

/** Declares the metrics. */
export function measureSiem(
  registry: Registry,
  forwarder: Pick<SiemForwarder, 'seen'>,
  now: () => number,
): void {
  const labelNames = ['destination_id'];
  const perDestination = (
    name: string,
    help: string,
    read: (standing: ReturnType<SiemForwarder['seen']>[number]['standing']) => number,
  ): void => {
    new Gauge({
      ...{ name, help, labelNames, registers: [registry] },
      collect() {
        this.reset();
        for (const { destinationId, standing } of forwarder.seen()) {
          this.set({ destination_id: destinationId }, read(standing));
        }
      },
    });
  };
  perDestination(
    'service_siem_lag_seconds',
    'How far forwarding is behind: everything received before that is with the SIEM.',
    ({ cursor }) => Math.max(0, (now() - cursor.receivedAtMs) / 1_000),
  );
  perDestination(
    'service_siem_sent_events_total',
    'Events that the SIEM took.',
    (standing) => standing.sentEvents,
  );
  perDestination(
    'service_siem_refused_events_total',
    'Events that the SIEM refused by themselves; they were left out.',
    (standing) => standing.refusedEvents,
  );
  perDestination('service_siem_forwarding', '1 while events are forwarded.', ({ state }) =>
    state === 'forwarding' ? 1 : 0,
  );
}
