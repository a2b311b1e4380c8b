// The `tetragon:` mapping of sensor.yaml, under the two variables of the environment: the bundle of a Tetragon and what it
// must be; nulls = there is none.
import { mappingIn, type SensorSetting } from '../../config/setting.ts';
import type { TetragonSettings } from './bundles.ts';

const KEYS = ['bundle', 'sha256', 'metrics_address'];

export const tetragon: SensorSetting<TetragonSettings> = {
  keys: ['tetragon'],
  environment: (env) => ({
    tetragon_bundle: env['SERVICE_SENSOR_TETRAGON_BUNDLE'],
    tetragon_sha256: env['SERVICE_SENSOR_TETRAGON_SHA256'],
  }),
  read(given) {
    const { values, mistakes } = given;
    const mapping = mappingIn(given, 'tetragon', KEYS);
    const text = (key: string, fits: RegExp, what: string): string | null => {
      const value = values[`tetragon_${key}`] ?? mapping[key];
      if (value === undefined) return null;
      if (typeof value === 'string' && fits.test(value)) return value;
      mistakes.push(`tetragon.${key}: must be ${what}`);
      return null;
    };
    return {
      bundle: text('bundle', /^\//, 'an absolute path'),
      sha256: text('sha256', /^[0-9a-f]{64}$/, '64 hex digits'),
      // Its metrics tell what runs on the node; they stay on it.
      metricsAddress: text(
        'metrics_address',
        /^(127(\.\d{1,3}){3}|\[::1\]|localhost):\d{1,5}$/,
        'a loopback address with a port',
      ),
    };
  },
};
