// sensor-state.json as a crash, a full disk or a hand may leave it.
import { parseSensorState, SensorStateSchema } from '../../../sensor/state-directory/identity.ts';
import { json, texts } from '../samples.ts';
import type { FuzzTarget } from '../target.ts';
import { checkParsed } from '../wire-oracle.ts';

const state = {
  sensor_id: '01234567-89ab-4cde-8f01-23456789abcd',
  trust_state: 'trusted',
  certificate_expires_at: '2026-04-01T00:00:00.000Z',
  renewal_status: 'ok',
  console_url: 'https://console:15483',
  superseded_at: '2026-03-01T00:00:00.000Z',
  last_trust_error_at: '2026-03-01T00:00:00.000Z',
};

const target: FuzzTarget = {
  name: 'sensor-state',
  modules: ['machines/wire/parse.ts'],
  form: 'json',
  seeds: () => [
    json(state),
    Buffer.from(`${JSON.stringify(state, null, 2)}\n`),
    json(state).subarray(0, 60),
    ...texts('', '\0\0\0\0', '{}', 'null', '{"__proto__":{"trust_state":"trusted"}}'),
  ],
  run(bytes, note) {
    checkParsed(bytes.toString(), parseSensorState, SensorStateSchema, note);
  },
};
export default target;
