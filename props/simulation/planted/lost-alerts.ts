// A mistake in the inbox: alerts of one kind are taken and never stored.
import type { AlertKind } from '../../../machines/console/delivery/alert.ts';
import type { ConsoleTampering } from '../world/console-host.ts';

/** An inbox that loses what is found of this kind. */
export function losingAlerts(kind: AlertKind): () => ConsoleTampering {
  return () => ({
    relational: (ports) => ({
      ...ports,
      alerts: {
        ...ports.alerts,
        raise: (input) =>
          ports.alerts.raise({
            ...input,
            findings: input.findings.filter(({ alert }) => alert.kind !== kind),
          }),
      },
    }),
  });
}
