// What one sensor's record says of its engine: how it sees, why no better one runs, what it lacks. In the order in which a
// person asks.
import { factOf, itemsOf, type ShownField, type ShownSensor } from '../shown-field.ts';

const UPGRADE = 'engine/upgrade';
const ENGINE = 'engine/';

export const engineMode: ShownField = {
  ...{ title: 'Engine mode', rank: 20 },
  read(sensor) {
    const { mode, version, restarts } = factOf(sensor, 'engine');
    const told = [
      typeof mode === 'string' ? mode : '',
      typeof version === 'string' ? `version ${version}` : '',
      typeof restarts === 'number' ? `${restarts} ${restarts === 1 ? 'restart' : 'restarts'}` : '',
    ];
    return told.filter((text) => text !== '').join(', ');
  },
};
export const enginePassedOver: ShownField = {
  ...{ title: 'Engine passed over', rank: 21 },
  read: (sensor) =>
    hooksOf(sensor)
      .filter(({ hook }) => hook.startsWith(ENGINE) && hook !== UPGRADE)
      .map(({ hook, reason }) => `${hook.slice(ENGINE.length)}: ${reason}`),
};
export const engineUpgrade: ShownField = {
  ...{ title: 'Engine upgrade', rank: 22 },
  read: (sensor) =>
    hooksOf(sensor)
      .filter(({ hook }) => hook === UPGRADE)
      .map(({ reason }) => reason),
};
export const disabledHooks: ShownField = {
  ...{ title: 'Disabled hooks', rank: 23 },
  read: (sensor) =>
    hooksOf(sensor)
      .filter(({ hook }) => !hook.startsWith(ENGINE))
      .map(({ hook, reason }) => `${hook}: ${reason}`),
};

function hooksOf(sensor: ShownSensor) {
  return itemsOf(factOf(sensor, 'engine')['disabled_hooks']).map(({ hook, reason }) => ({
    hook: String(hook),
    reason: String(reason),
  }));
}
