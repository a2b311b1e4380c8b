// The Sensor's own statecharts, told with each heartbeat, and at once on the stream when one of them came to stay in
// another state. decision: D89
import { membersText } from '../../actors/heartbeat-body.ts';
import type { SensorCapability } from '../../capability.ts';

export const machines: SensorCapability<null> = {
  name: 'machines',
  open({ machines: book, clock, config, sendStatus }) {
    return {
      service: null,
      forward() {
        let told = '';
        let timer = 0;
        const statesOf = (reports: ReturnType<typeof book.reports>) =>
          reports.map(({ machine, value }) => `${machine} ${value}`).join('\n');
        const look = (): void => {
          const reports = [...book.reports()];
          const states = statesOf(reports);
          if (states !== told && sendStatus({ machines: reports })) told = states;
          timer = clock.setTimeout(look, 4 * config.intervals.STREAM_TICK_MS);
        };
        look();
        return {
          heartbeat() {
            const reports = [...book.reports()];
            told = statesOf(reports);
            return { text: membersText({ machines: reports }) };
          },
          stop: () => clock.clearTimeout(timer),
        };
      },
    };
  },
};
