// Which engine is asked for.
import { choiceIn, type SensorSetting } from '../config/setting.ts';
import type { EngineWish } from './choice.ts';

const WISHES = ['auto', 'tetragon', 'ebpf', 'procfs'] as const;

export const engine: SensorSetting<EngineWish> = {
  keys: ['engine'],
  environment: (env) => ({ engine: env['SERVICE_SENSOR_ENGINE'] }),
  read: (given) => choiceIn(given, 'engine', WISHES, 'auto'),
};
