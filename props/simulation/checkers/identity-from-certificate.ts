// Identity comes from the certificate alone: whatever a request says, is replayed or is repeated, its events are stored
// under the sensor its certificate names, and that sensor is the node whose engine wrote them, or the node whose image a copy
// of it was made from: a copy has its certificate. No excuses. invariant: I9
import { originalOf } from '../world/copies.ts';
import type { BatchSeen } from '../world/observation.ts';
import type { CheckerKind } from './checker.ts';
import { nodeOfKey } from './columns.ts';

export const identityFromCertificate: CheckerKind = {
  name: 'identity-from-certificate',
  promise: 'Every stored batch belongs to the sensor of the certificate that sent it (I9).',
  make(fleet, report) {
    const { relational } = fleet.stores;

    function judge(batch: Omit<BatchSeen, 'sensor'>, sensor: string | undefined): void {
      const node = relational.nodeOf(sensor ?? '');
      const name = `${batch.stream}/${batch.channel}/${batch.sequence}`;
      if (node === undefined) {
        report(`${name} belongs to a sensor that never enrolled: ${sensor}`);
        return;
      }
      const other = batch.events.find((key) => originalOf(nodeOfKey(key)) !== node && key !== '');
      if (other !== undefined) report(`${name} of ${node} holds ${other}`);
    }

    return {
      observe(observation) {
        if (observation.kind === 'events.stored') {
          for (const one of observation.batches) judge(one, one.sensor);
        }
        if (observation.kind === 'batch.acknowledged') {
          const { fingerprint, batch } = observation;
          if (fingerprint === null)
            report(`${batch.stream} was acknowledged without a certificate`);
          else judge(batch, relational.sensorOf(fingerprint));
        }
      },
    };
  },
};
