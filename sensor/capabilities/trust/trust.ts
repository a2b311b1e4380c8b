// Trust: the certificate is renewed, its state is told, and a Console that revoked it is believed. invariant: I4, I12
import type { EventFromLogic } from 'xstate';
import type { renewalMachine } from '../../../machines/sensor/renewal.machine.ts';
import { membersText } from '../../actors/heartbeat-body.ts';
import type { SensorCapability } from '../../capability.ts';
import { enrollCommand } from './enroll-command.ts';
import { startRenewal } from './renewal.actor.ts';

export const trust: SensorCapability<null> = {
  name: 'trust',
  open(context) {
    let running: ReturnType<typeof startRenewal> | null = null;
    return {
      service: null,
      forward(identity) {
        // What was under way when forwarding stopped still ends; nobody is there any more to be told.
        let isStopped = false;
        const renewal = startRenewal(context, identity, {
          onPresented: context.presents,
          onRenewed: context.report,
        });
        running = renewal;
        const tell = (event: EventFromLogic<typeof renewalMachine>): void => {
          if (!isStopped) renewal.send(event);
        };
        const request = (): void => tell({ type: 'renewal.requested' });
        return {
          heartbeat() {
            context.trust.refresh();
            return {
              text: membersText({ trust: context.facts.trust }),
              heard(answer) {
                if (answer === null) return;
                context.trust.useThreshold(answer.settings.renewal_threshold_seconds);
                if (answer.certificate.renew_now) request();
              },
            };
          },
          frames: {
            revoked: context.revoked,
            refresh: ({ what }) => {
              if (what.includes('certificate')) request();
            },
          },
          clockJumped: () => tell({ type: 'clock.jumped' }),
          stop() {
            isStopped = true;
            running = null;
            renewal.stop();
          },
        };
      },
      actors: () => (running === null ? [] : [running]),
    };
  },
  commands: [enrollCommand],
};
