// The inventory: sections go out only when the hash of their stable fields changed, as a delta when the Console knows the
// base, whole when it asks. One at a time; a failed one is sent again at the next turn. What did not change for long is told
// once more as a change of nothing: a request that came late may have put an earlier list in its place.
import { INVENTORY_BODY_MAX_BYTES, REQUEST_TIMEOUT_MS } from '../../../machines/limits.ts';
import { SENSOR_PATHS } from '../../../machines/wire/enrollment.ts';
import { InventoryResponse, type InventorySectionName } from '../../../machines/wire/inventory.ts';
import { parserOfValue } from '../../../machines/wire/parse.ts';
import type { Parts } from '../../actors/parts.ts';
import type { HeldSection, InventoryGroup } from './inventory-group.ts';

const readAnswer = parserOfValue(InventoryResponse);
type Sections = ReadonlyMap<InventorySectionName, HeldSection>;

export type Inventory = { send(isFull: boolean): void; stop(): void };
type SenderParts = Pick<Parts, 'client' | 'clock' | 'config' | 'logger' | 'monotonicNow'>;

/** Starts the sender; every interval and on demand. */
export function startInventory(parts: SenderParts, groups: readonly InventoryGroup[]): Inventory {
  const known = createKnown(parts);
  /** Lists that are told shortened now. */
  const shortened = new Set<InventorySectionName>();
  let isRunning = false;
  let isStopped = false;
  let timer = 0;

  async function turn(): Promise<void> {
    if (isRunning || isStopped) return;
    isRunning = true;
    for (const group of groups) {
      await tellGroup(group).catch((error: unknown) =>
        parts.logger.debug({ reason: String(error) }, 'the inventory could not be read'),
      );
    }
    isRunning = false;
  }

  async function tellGroup(group: InventoryGroup): Promise<void> {
    const now = await group.read();
    const isSnapshot = group.isSnapshot === true;
    if (await exchange(now, isSnapshot)) await exchange(now, isSnapshot);
    for (const [name, held] of now) if (known.get(name) === held) group.stored?.(name, held);
  }

  // True when the Console asked for whole sections, so that a second exchange is worth it. Reading the sections takes its
  // time, and in it forwarding may have been stopped: a Sensor that was revoked sends nothing more.
  async function exchange(now: Sections, isSnapshot: boolean): Promise<boolean> {
    const changed = [...now].filter(known.isToTell);
    if (changed.length === 0 || isStopped) return false;
    for (const [name, held] of changed) tellShortened(name, held);
    const isFull = isSnapshot && changed.length === now.size && changed.every(isUnknown);
    const textOf = (from: (name: InventorySectionName) => HeldSection | undefined): string => {
      const told = changed.map(([name, held]) => [name, toldOf(held, from(name))]);
      return JSON.stringify({ is_full_snapshot: isFull, sections: Object.fromEntries(told) });
    };
    const fits = (one: string) => Buffer.byteLength(one) <= INVENTORY_BODY_MAX_BYTES;
    const changes = textOf((name) => known.get(name));
    // What went and what came may be longer than what there is.
    const text = fits(changes) ? changes : textOf(() => undefined);
    if (!fits(text)) {
      parts.logger.warn({ bytes: Buffer.byteLength(text) }, 'the inventory is too long to be told');
      return false;
    }
    const answer = await parts.client.post(SENSOR_PATHS.inventory, text, {
      timeoutMs: REQUEST_TIMEOUT_MS,
    });
    const parsed = answer.ok ? readAnswer(answer.json) : null;
    if (parsed === null || !parsed.ok) return false;
    const needed = new Set<string>(parsed.value.need_full);
    for (const [name, held] of changed) {
      if (needed.has(name)) known.delete(name);
      else known.set(name, held);
    }
    return needed.size > 0;
  }

  /** Once, until the list was whole again. */
  function tellShortened(name: InventorySectionName, { items, total }: HeldSection): void {
    if (total === undefined) shortened.delete(name);
    else if (!shortened.has(name)) {
      shortened.add(name);
      const facts = { section: name, told: items.size, total };
      parts.logger.warn(facts, 'a list of the inventory is too long and is told shortened');
    }
  }

  const isUnknown = ([name]: readonly [InventorySectionName, HeldSection]): boolean =>
    !known.has(name);

  function arm(delayMs: number): void {
    if (isStopped) return;
    timer = parts.clock.setTimeout(() => {
      void turn().then(() => arm(parts.config.intervals.INVENTORY_INTERVAL_MS));
    }, delayMs);
  }

  arm(parts.config.intervals.HEARTBEAT_TIMEOUT_MS / 2);
  return {
    send(isFull) {
      if (isFull) known.clear();
      void turn();
    },
    stop() {
      isStopped = true;
      parts.clock.clearTimeout(timer);
    },
  };
}

/** What the Console has, by its own word, and since when. */
function createKnown({ config, monotonicNow }: Pick<SenderParts, 'config' | 'monotonicNow'>) {
  const sections = new Map<InventorySectionName, HeldSection>();
  const sinceMs = new Map<InventorySectionName, number>();
  return {
    get: (name: InventorySectionName) => sections.get(name),
    has: (name: InventorySectionName) => sections.has(name),
    set(name: InventorySectionName, held: HeldSection) {
      sections.set(name, held);
      sinceMs.set(name, monotonicNow());
    },
    delete: (name: InventorySectionName) => sections.delete(name),
    clear: () => sections.clear(),
    isToTell([name, held]: readonly [InventorySectionName, HeldSection]): boolean {
      if (held.isDue === true || sections.get(name)?.hash !== held.hash) return true;
      return monotonicNow() - (sinceMs.get(name) ?? 0) >= config.intervals.INVENTORY_REPEAT_MS;
    },
  };
}

function toldOf(now: HeldSection, before: HeldSection | undefined) {
  const { hash, total } = now;
  const mark = total === undefined ? {} : { total };
  if (before === undefined) return { hash, items: [...now.items.values()], ...mark };
  const added = [...now.items].filter(([key]) => !before.items.has(key)).map(([, item]) => item);
  const removed = [...before.items].filter(([key]) => !now.items.has(key)).map(([, item]) => item);
  return { base_hash: before.hash, hash, added, removed, ...mark };
}
