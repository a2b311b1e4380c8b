// What a running Sensor told of itself last, as its other commands read it.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJson } from '../../machines/wire/parse.ts';
import { STATUS_FILE } from '../actors/status-file.ts';
import { isObject } from '../transport/answer.ts';

export type Live = Readonly<Record<string, unknown>>;

const UPGRADE = 'upgrade';

/** The picture a Sensor left that runs now, or null. */
export async function readLive(stateDir: string): Promise<Live | null> {
  const text = await readFile(join(stateDir, STATUS_FILE), 'utf8').catch(() => '');
  const parsed = parseJson(text);
  const live = parsed.ok && isObject(parsed.value) ? parsed.value : null;
  const runs = live !== null && isAlive(Number(live['pid'])) && live['state'] !== 'stopped';
  return runs ? live : null;
}

/** The better engines that do not run on this node, each with the reason; null when there are none. */
export function passedOver(live: Live | null): string | null {
  const told = engineHooks(live).filter(({ kind }) => kind !== UPGRADE);
  if (told.length === 0) return null;
  return told.map(({ kind, reason }) => `${kind}: ${reason}`).join('; ');
}

/** The newer builds of engines that did not take over, and why; null when there are none. */
export function refusedUpgrade(live: Live | null): string | null {
  const told = engineHooks(live).filter(({ kind }) => kind === UPGRADE);
  return told.length === 0 ? null : told.map(({ reason }) => reason).join('; ');
}

function engineHooks(live: Live | null): { readonly kind: string; readonly reason: string }[] {
  const engine = live?.['engine'];
  const hooks = isObject(engine) ? engine['disabled_hooks'] : [];
  return (Array.isArray(hooks) ? hooks : []).filter(isObject).flatMap((one) => {
    const kind = /^engine\/(.*)$/.exec(String(one['hook']))?.[1];
    return kind === undefined ? [] : [{ kind, reason: String(one['reason']) }];
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM';
  }
}
