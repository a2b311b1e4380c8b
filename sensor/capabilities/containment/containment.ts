// Containment: the Console orders, this node carries out and says how far it is. What was in force before a restart is in
// force again before the first request. decision: D85, D86
import { waitFor } from 'xstate';
import { containmentReportOf, stateOf } from '../../../machines/sensor/containment.machine.ts';
import { orderOf } from '../../../machines/sensor/containment.rules.ts';
import { CONTAINMENT_RESTORE_TIMEOUT_MS } from '../../../machines/sensor/containment-limits.ts';
import type { ContainmentOrder } from '../../../machines/wire/policy.ts';
import { membersText } from '../../actors/heartbeat-body.ts';
import type { SensorCapability } from '../../capability.ts';
import { startContainment } from './containment.actor.ts';

export const containment: SensorCapability<null> = {
  name: 'containment',
  async open(context) {
    const { now, logger, report } = context;
    const actor = await startContainment(context);
    await waitFor(actor, (snapshot) => snapshot.hasTag('settled'), {
      timeout: CONTAINMENT_RESTORE_TIMEOUT_MS,
    }).catch(() => logger.error({}, 'the containment is not restored in time; it goes on'));
    let state = stateOf(actor.getSnapshot());
    actor.subscribe((snapshot) => {
      const next = stateOf(snapshot);
      if (next === state) return;
      state = next;
      const { failure } = snapshot.context;
      if (state === 'failed')
        logger.warn({ failure }, 'the containment order cannot be carried out');
      else logger.info({ state }, 'containment');
      report();
    });
    const takeAs =
      (sensorId: string) =>
      (order: ContainmentOrder): void => {
        const received = { ...orderOf(order), sensorId };
        actor.send({ type: 'order.received', order: received, atMs: now() });
      };
    return {
      service: null,
      announces: ['containment.v1'],
      forward({ sensorId }) {
        const take = takeAs(sensorId);
        return {
          heartbeat: () => ({
            text: membersText({ containment: containmentReportOf(actor.getSnapshot()) }),
            heard(answer) {
              if (answer?.containment !== undefined) take(answer.containment);
            },
          }),
          frames: {
            contain: ({ type: _type, ...order }) => take({ ...order, wanted: 'contained' }),
            release: ({ order_id }) => take({ order_id, wanted: 'released' }),
          },
        };
      },
      actors: () => [actor],
      status: () => ({ containment: containmentReportOf(actor.getSnapshot()) }),
      close: () => void actor.stop(),
    };
  },
  statusRows: (live) => {
    const said = live?.['containment' as never] as { state?: string; failure?: string } | undefined;
    const text = [said?.state ?? '-', said?.failure].filter((one) => one !== undefined);
    return [['CONTAINMENT', text.join(': ')]];
  },
};
