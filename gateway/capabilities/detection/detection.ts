// Detection: what people should know lies in the inbox, each thing once. decision: D130
import { alertSweepLoop } from '../../../actors/detection/alert-sweep.ts';
import { type Alerts, createAlerts } from '../../../actors/detection/alerts.ts';
import { alertMachine } from '../../../machines/console/detection/alert.machine.ts';
import type { Capability } from '../../capability.ts';

/** What other capabilities are given: where they hand over what they found. */
export type Detection = { readonly alerts: Alerts };

export const detection: Capability<Detection> = {
  name: 'detection',
  open(context) {
    const { relational, time } = context;
    const store = relational.alerts;
    const alerts = createAlerts({ store, now: time.now });
    return {
      service: { alerts },
      machines: [alertMachine],
      loops: () => [alertSweepLoop({ store, now: time.now })],
    };
  },
};
