// Losses: what was lost where and in which hour, told until the Console has it. decision: D48; invariant: I19
import { hourOf, lossesIn, lossesSince } from '../../../machines/sensor/loss-ledger.rules.ts';
import { membersText } from '../../actors/heartbeat-body.ts';
import type { SensorCapability } from '../../capability.ts';
import { lossLines } from '../../cli/live-status.ts';
import { createLossReporter } from './loss-reporter.ts';

/** Of the instance's name, what names its loss reports. */
const RUN_CHARS = 16;

export const losses: SensorCapability<null> = {
  name: 'losses',
  open({ client, spool, now }) {
    const reporter = createLossReporter(client.instanceId.slice(0, RUN_CHARS));
    const settledBefore = spool.ledger().total;
    return {
      service: null,
      forward: () => ({
        heartbeat: () => ({
          text: membersText({ loss: reporter.next(spool.ledger()) }),
          async heard(answer) {
            if (answer !== null) await spool.confirmTold(reporter.confirm(answer.loss_stored));
          },
        }),
      }),
      status: () => ({
        losses: {
          this_hour: lossesIn(spool.ledger(), hourOf(now())),
          since_start: lossesSince(spool.ledger().total, settledBefore),
        },
      }),
    };
  },
  statusRows: (live) => [['LOST', ...lossLines(live)]],
};
