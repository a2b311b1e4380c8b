// The inventory: sections go out only when the hash of their stable fields changed, as a delta when the Console knows the
// base, whole when it asks. One at a time; a failed one is sent again at the next turn.
import { INVENTORY_BODY_MAX_BYTES, REQUEST_TIMEOUT_MS } from '../../machines/limits.ts';
import type { Baseline } from '../../machines/wire/baseline.ts';
import { SENSOR_PATHS } from '../../machines/wire/enrollment.ts';
import { InventoryResponse } from '../../machines/wire/inventory.ts';
import { parserOfValue } from '../../machines/wire/parse.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Parts } from './parts.ts';
import { processSection, type Section, socketSections, wholeSection } from './section.ts';

const readAnswer = parserOfValue(InventoryResponse);
type Name = 'processes' | 'connections' | 'listening_services' | 'baselines';
type Held = Section & {
  /** Told even when nothing changed. */
  readonly isDue?: boolean;
};

export type Inventory = { send(isFull: boolean): void; stop(): void };

/** Starts the sender; every interval and on demand. */
export function startInventory(parts: Parts): Inventory {
  const known = new Map<Name, Held>();
  /** Lists that are told shortened now. */
  const shortened = new Set<Name>();
  /** The habits that were told last, as they were drawn up then. */
  let toldHabits: readonly Baseline[] | null = null;
  let isRunning = false;
  let isStopped = false;
  let timer = 0;

  async function turn(): Promise<void> {
    if (isRunning || isStopped) return;
    isRunning = true;
    try {
      const now = await readSections(parts.ports.telemetry);
      if (await exchange(now)) await exchange(now);
      // Alone, so that neither is too long for the other's sake.
      await tellHabits();
    } catch (error) {
      parts.logger.debug({ reason: String(error) }, 'the inventory could not be read');
    } finally {
      isRunning = false;
    }
  }

  // Whenever they are drawn up anew, also when they are as they were. A request that came once more or late may have put
  // earlier habits in the place of the last ones, and nothing else would tell: a change of nothing asks whether the
  // Console holds what it is put on. None are told, too: a node that was set up anew under its identity knows nothing of
  // what it told before.
  async function tellHabits(): Promise<void> {
    const items = parts.habits.items();
    const held = { ...wholeSection(items), isDue: items !== toldHabits };
    const learned = new Map<Name, Held>([['baselines', held]]);
    if (await exchange(learned)) await exchange(learned);
    if (known.get('baselines') === held) toldHabits = items;
  }

  // True when the Console asked for whole sections, so that a second exchange is worth it. Reading the sections takes its
  // time, and in it forwarding may have been stopped: a Sensor that was revoked sends nothing more.
  async function exchange(now: ReadonlyMap<Name, Held>): Promise<boolean> {
    const changed = [...now].filter(
      ([name, held]) => held.isDue === true || known.get(name)?.hash !== held.hash,
    );
    if (changed.length === 0 || isStopped) return false;
    for (const [name, held] of changed) tellShortened(name, held);
    const isFull = now.size > 1 && changed.length === now.size && changed.every(isUnknown);
    const textOf = (from: (name: Name) => Held | undefined): string => {
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
  function tellShortened(name: Name, { items, total }: Held): void {
    if (total === undefined) shortened.delete(name);
    else if (!shortened.has(name)) {
      shortened.add(name);
      const facts = { section: name, told: items.size, total };
      parts.logger.warn(facts, 'a list of the inventory is too long and is told shortened');
    }
  }

  const isUnknown = ([name]: readonly [Name, Held]): boolean => !known.has(name);

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

function toldOf(now: Held, before: Held | undefined) {
  const { hash, total } = now;
  const mark = total === undefined ? {} : { total };
  if (before === undefined) return { hash, items: [...now.items.values()], ...mark };
  const added = [...now.items].filter(([key]) => !before.items.has(key)).map(([, item]) => item);
  const removed = [...before.items].filter(([key]) => !now.items.has(key)).map(([, item]) => item);
  return { base_hash: before.hash, hash, added, removed, ...mark };
}

async function readSections(telemetry: Telemetry): Promise<ReadonlyMap<Name, Held>> {
  const [sockets, processes] = await Promise.all([telemetry.sockets(), telemetry.processes()]);
  const { connections, listening_services } = socketSections(sockets);
  return new Map<Name, Held>([
    ['processes', processSection(processes)],
    ['connections', connections],
    ['listening_services', listening_services],
  ]);
}
