// What a running Sensor told of itself last, as its other commands read it. What people read comes as lines, one a fact.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LOSS_PLACES } from '../../machines/wire/loss.ts';
import { parseJson } from '../../machines/wire/parse.ts';
import { STATUS_FILE } from '../actors/status-file.ts';
import { isObject } from '../transport/answer.ts';

export type Live = Readonly<Record<string, unknown>>;
type Hook = { readonly hook: string; readonly reason: string; readonly missing: boolean };

const UPGRADE = 'engine/upgrade';
const ENGINE = 'engine/';

/** The picture a Sensor left that runs now, or null. */
export async function readLive(stateDir: string): Promise<Live | null> {
  const text = await readFile(join(stateDir, STATUS_FILE), 'utf8').catch(() => '');
  const parsed = parseJson(text);
  const live = parsed.ok && isObject(parsed.value) ? parsed.value : null;
  const runs = live !== null && isAlive(Number(live['pid'])) && live['state'] !== 'stopped';
  return runs ? live : null;
}

/** The engine in one line: what it is, how it sees, whether it runs. */
export function engineLine(live: Live | null): string | null {
  const engine = live?.['engine'];
  if (!isObject(engine)) return null;
  const { kind, mode, state, restarts } = engine;
  const how = typeof mode === 'string' && mode !== kind ? ` (${mode})` : '';
  const often = Number(restarts ?? 0);
  const again = often === 0 ? '' : `, ${often} ${often === 1 ? 'restart' : 'restarts'}`;
  const missing = hooksOf(live).some((one) => one.missing);
  const stands = state === 'running' && missing ? 'degraded' : String(state);
  return `${String(kind)}${how} ${stands}${again}`;
}

/** The engines that do not run on this node although they were wished for or are better, each with the reason. */
export function passedOver(live: Live | null): readonly string[] {
  const engines = hooksOf(live).filter(({ hook }) => hook.startsWith(ENGINE) && hook !== UPGRADE);
  return engines.map(({ hook, reason }) => `${hook.slice(ENGINE.length)}: ${reason}`);
}

/** The newer builds of engines that did not take over, and why. */
export function refusedUpgrades(live: Live | null): readonly string[] {
  return hooksOf(live)
    .filter(({ hook }) => hook === UPGRADE)
    .map(({ reason }) => reason);
}

/** What the engine that runs does not see or do, each with the reason. */
export function disabledHooks(live: Live | null): readonly string[] {
  const own = hooksOf(live).filter(({ hook }) => !hook.startsWith(ENGINE));
  return own.map(({ hook, reason }) => `${hook}: ${reason}`);
}

/** What was lost where, in this hour and since the Sensor started; nothing when it did not say. */
export function lossLines(live: Live | null): readonly string[] {
  const losses = live?.['losses'];
  if (!isObject(losses)) return [];
  const [hour, start] = [lostIn(losses['this_hour']), lostIn(losses['since_start'])];
  if (hour === null && start === null) return ['nothing this hour, nothing since the start'];
  return [
    hour === null ? 'nothing this hour' : `this hour ${hour}`,
    start === null ? 'nothing since the start' : `since the start ${start}`,
  ];
}

function lostIn(counts: unknown): string | null {
  const told = LOSS_PLACES.flatMap((place): [string, number][] => {
    const count = isObject(counts) ? Number(counts[place] ?? 0) : 0;
    return count > 0 ? [[place, count]] : [];
  });
  if (told.length === 0) return null;
  const sum = told.reduce((all, [, count]) => all + count, 0);
  return `${sum}: ${told.map(([place, count]) => `${place} ${count}`).join(', ')}`;
}

function hooksOf(live: Live | null): readonly Hook[] {
  const engine = live?.['engine'];
  const hooks = isObject(engine) ? engine['disabled_hooks'] : [];
  return (Array.isArray(hooks) ? hooks : []).filter(isObject).map((one) => ({
    hook: String(one['hook']),
    reason: String(one['reason']),
    missing: one['missing'] === true,
  }));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM';
  }
}
