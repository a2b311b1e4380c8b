// No runtime event enters PostgreSQL: a key that an engine wrote appears nowhere in the relational state, however deep.
// It is looked for in the text of every row, a few sensors at a look and everything at the end. No excuses.
// invariant: I15
import type { CheckerKind } from './checker.ts';

const SENSORS_PER_LOOK = 2;

export const noRawEvents: CheckerKind = {
  name: 'no-raw-events',
  promise: 'No runtime event enters PostgreSQL (I15).',
  make(fleet, report) {
    const { state } = fleet.stores.relational;
    let next = 0;

    function scan(what: string, row: unknown): void {
      const text = JSON.stringify(row) ?? '';
      const found = /"(?:exec_id|event_id|parent_exec_id)":|"node-\d+:\d+"/.exec(text);
      if (found !== null) report(`${what} holds ${found[0]}`);
    }

    return {
      probe() {
        const all = [...state.sensors.values()];
        for (let at = 0; at < Math.min(SENSORS_PER_LOOK, all.length); at += 1) {
          const sensor = all[(next + at) % all.length];
          if (sensor !== undefined) scan(`sensor ${sensor.sensorId}`, sensor);
        }
        next += SENSORS_PER_LOOK;
      },
      finish() {
        for (const sensor of state.sensors.values()) scan(`sensor ${sensor.sensorId}`, sensor);
        for (const token of state.tokens.values()) scan(`token ${token.tokenId}`, token);
        for (const one of state.certificates.values()) scan('a certificate', one);
        for (const entry of fleet.stores.relational.auditEntries()) scan('the audit log', entry);
      },
    };
  },
};
