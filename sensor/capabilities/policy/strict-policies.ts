// The `policies:` mapping of sensor.yaml: whether policies that somebody laid by hand need a signature, too.
import type { SensorSetting, Values } from '../../config/setting.ts';

export const strictPolicies: SensorSetting<boolean> = {
  keys: ['policies'],
  read({ values: { policies: value }, mistakes }) {
    const mapping: Values = typeof value === 'object' && value !== null ? (value as Values) : {};
    const { strict = false, ...others } = mapping;
    const isFit = value === undefined || (mapping === value && !Array.isArray(value));
    if (!isFit || Object.keys(others).length > 0) mistakes.push('policies: has `strict` only');
    if (typeof strict !== 'boolean') mistakes.push('policies.strict: must be true or false');
    return strict === true;
  },
};
