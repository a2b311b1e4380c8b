// The end of a license is told to people. It stands after the inbox, which the license itself is opened before. decision: D33
import { licenseAlertsLoop } from '../../../actors/license/license-alerts.ts';
import type { Capability } from '../../capability.ts';
import { detection } from '../detection/detection.ts';
import { license } from './license.ts';

export const licenseAlerts: Capability = {
  name: 'license-alerts',
  open(context) {
    const { view } = context.use(license);
    const { alerts } = context.use(detection);
    const loop = licenseAlertsLoop({ view, alerts, newId: context.chance.newId });
    return { service: null, loops: () => [loop] };
  },
};
