// What one sensor's record says of its engine: how it sees, why no better one runs, what it lacks, what it carries out.
import type { SensorDetail } from '../../operator-plane/fleet/sensor-view.ts';
import type { Column } from '../plumbing/output.ts';

const UPGRADE = 'engine/upgrade';
const ENGINE = 'engine/';

type Item = Readonly<Record<string, unknown>>;
type Hook = { readonly hook: string; readonly reason: string };

/** In the order in which a person asks. */
export const ENGINE_COLUMNS: readonly Column<SensorDetail>[] = [
  { head: 'ENGINE-MODE', read: modeOf },
  { head: 'ENGINE-PASSED-OVER', read: passedOverOf },
  { head: 'ENGINE-UPGRADE', read: upgradeOf },
  { head: 'DISABLED-HOOKS', read: disabledHooksOf },
];

/** What the engine said of itself, as far as the Console keeps it. */
export function engineFactsOf({ facts }: SensorDetail): Item {
  return objectOf(facts?.['engine']);
}

export function objectOf(value: unknown): Item {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function modeOf(sensor: SensorDetail): string {
  const { mode, version, restarts } = engineFactsOf(sensor);
  const told = [
    typeof mode === 'string' ? mode : '',
    typeof version === 'string' ? `version ${version}` : '',
    typeof restarts === 'number' ? `${restarts} ${restarts === 1 ? 'restart' : 'restarts'}` : '',
  ].filter((text) => text !== '');
  return told.join(', ') || '-';
}

function passedOverOf(sensor: SensorDetail): readonly string[] {
  return hooksOf(sensor)
    .filter(({ hook }) => hook.startsWith(ENGINE) && hook !== UPGRADE)
    .map(({ hook, reason }) => `${hook.slice(ENGINE.length)}: ${reason}`);
}

function upgradeOf(sensor: SensorDetail): readonly string[] {
  return hooksOf(sensor)
    .filter(({ hook }) => hook === UPGRADE)
    .map(({ reason }) => reason);
}

function disabledHooksOf(sensor: SensorDetail): readonly string[] {
  return hooksOf(sensor)
    .filter(({ hook }) => !hook.startsWith(ENGINE))
    .map(({ hook, reason }) => `${hook}: ${reason}`);
}

function hooksOf(sensor: SensorDetail): readonly Hook[] {
  const listed = engineFactsOf(sensor)['disabled_hooks'];
  return (Array.isArray(listed) ? listed : [])
    .map(objectOf)
    .map((one) => ({ hook: String(one['hook']), reason: String(one['reason']) }));
}
