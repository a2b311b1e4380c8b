// How far each Console judged what it stored itself. Every process has a cursor of its own: what one stored and did not
// judge before it died is no other's to pass over. A cursor that stands still is that of a process that is gone; somebody
// judges what came after it, and forgets it. decision: D131
import { RULE_CURSOR_DEAD_MS } from '../../machines/limits.ts';
import type { RuleDeps } from './rule-findings.ts';

const PREFIX = 'sensor-rules';
type Cursor = { readonly name: string; readonly receivedMs: number };

export type RuleCursors = {
  /** From when on a process that starts has to judge; null when nobody judged before. */
  start(): Promise<number | null>;
  /** From when on this process has to judge again after the database may have forgotten alerts; null as for `start`. */
  again(): Promise<number | null>;
  /** Of processes that went since, where they stopped. */
  dead(): Promise<readonly Cursor[]>;
  /** Moves the own one. */
  advance(receivedMs: number): Promise<void>;
};

/** Makes the cursor of a process, not written yet. */
export function createRuleCursors({
  rules,
  chance,
  now,
}: Pick<RuleDeps, 'rules' | 'chance' | 'now'>): RuleCursors {
  const own = `${PREFIX} ${chance.newId()}`;
  let before: ReadonlyMap<string, number> = new Map();

  async function others(): Promise<readonly Cursor[]> {
    return [...(await rules.cursors())]
      .filter(([name]) => name.startsWith(PREFIX) && name !== own)
      .map(([name, receivedMs]) => ({ name, receivedMs }));
  }

  return {
    async start() {
      const all = await others();
      before = new Map(all.map(({ name, receivedMs }) => [name, receivedMs]));
      return all.length === 0 ? null : Math.min(...before.values());
    },
    async again() {
      const ownMs = await rules.cursor(own);
      if (ownMs !== null) return ownMs;
      // It began after what is left: what the others judged is all that is known.
      const all = await others();
      return all.length === 0 ? null : Math.min(...all.map(({ receivedMs }) => receivedMs));
    },
    async dead() {
      const still = (await others()).filter(
        ({ receivedMs }) => receivedMs < now() - RULE_CURSOR_DEAD_MS,
      );
      // All that was stored when this process started was judged then.
      const isOld = (one: Cursor): boolean => before.get(one.name) === one.receivedMs;
      for (const one of still) if (isOld(one)) await rules.dropCursor(one);
      return still.filter((one) => !isOld(one));
    },
    async advance(receivedMs) {
      await rules.advance({ name: own, receivedMs });
    },
  };
}
