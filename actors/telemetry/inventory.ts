// Inventory of every sensor: a section is written only when its hash differs from the stored one. The hashes are in
// memory, so the ordinary report costs no query. invariant: I10, I15
import type { Refusal } from '../../machines/errors.ts';
import { INVENTORY_WRITES_IN_FLIGHT_MAX } from '../../machines/limits.ts';
import type { SectionHashes } from '../../machines/wire/heartbeat.ts';
import {
  INVENTORY_SECTIONS,
  type InventoryItem,
  type InventoryRequest,
  type InventoryResponse,
  type InventorySection,
  type InventorySectionName,
} from '../../machines/wire/inventory.ts';
import type { Flavor } from '../../machines/wire/scalars.ts';
import type { BaselineStore } from '../../storage/ports/telemetry/baseline-store.ts';
import type { InventoryStore } from '../../storage/ports/telemetry/inventory-store.ts';
import type { Logger } from '../runtime/logger.ts';
import { orUnavailable, storeUnavailable } from '../trust/outage.ts';
import { storeBaselines } from './inventory-baselines.ts';
import { createInventoryLook } from './inventory-look.ts';
import { applyDelta, contentOf, type Endpoint } from './inventory-section.ts';
import { createLanes } from './lane.ts';

/** No section has this hash: what is written is not sure, or not written everywhere yet. */
const UNSURE = '';
type Answer = keyof { [K in keyof InventoryResponse]: unknown };
type Content = {
  readonly hash: string;
  readonly items: readonly InventoryItem[];
  readonly total?: number | undefined;
};

export type Inventory = {
  /** Reads the stored hashes; call it before anything is served. Throws StoreUnavailable. */
  load(): Promise<void>;
  /** Takes one report whole; sections are answered one by one. */
  receive(
    sensorId: string,
    request: InventoryRequest,
    nowMs: number,
  ): Promise<{ readonly ok: true; readonly response: InventoryResponse } | Refusal>;
  /**
   * Takes a section out of a heartbeat; absent items are unchanged. It waits for nothing: what cannot be written now comes
   * again, since it is not named as stored.
   */
  observe(
    sensorId: string,
    section: 'connections' | 'listening_services',
    told: {
      readonly items: readonly Endpoint[] | undefined;
      readonly hash: string | undefined;
      /** How many there are on the node, when the items are not all. */
      readonly total?: number | undefined;
    },
    nowMs: number,
  ): void;
  /** What is durably stored of the sections of a heartbeat. */
  storedSections(sensorId: string): SectionHashes;
};

/** Makes the inventory over its store. */
export function createInventory(deps: {
  readonly store: InventoryStore;
  readonly baselines: Pick<BaselineStore, 'put' | 'baselinesOf'>;
  readonly platform: Flavor;
  readonly logger: Logger;
  /** Asks a sensor for its inventory on its stream, where what is stored is in doubt. */
  readonly refresh?: (sensorId: string) => void;
}): Inventory {
  const { store, platform, logger } = deps;
  const hashes = new Map<string, Map<InventorySectionName, string>>();
  const lanes = createLanes();
  /** Sections that are on their way to the store, by sensor: not written twice, not named as stored. */
  const onTheirWay = new Set<string>();

  const known = (sensorId: string, section: InventorySectionName) =>
    hashes.get(sensorId)?.get(section);
  function remember(sensorId: string, section: InventorySectionName, hash: string): void {
    const own = hashes.get(sensorId) ?? new Map<InventorySectionName, string>();
    hashes.set(sensorId, own);
    own.set(section, hash);
  }

  const look = createInventoryLook(store, {
    known,
    doubt: (sensorId, section) => remember(sensorId, section, UNSURE),
    ask: deps.refresh ?? (() => undefined),
  });

  async function put(
    sensorId: string,
    section: InventorySectionName,
    content: Content,
    nowMs: number,
  ): Promise<void> {
    const atMs = section === 'baselines' ? await putBaselines(sensorId, content, nowMs) : nowMs;
    try {
      await store.put({ sensorId, section, ...storedOf(content), nowMs: atMs });
    } catch (error) {
      // It may have been written all the same: neither what was known before nor this one is sure.
      remember(sensorId, section, UNSURE);
      throw error;
    }
    remember(sensorId, section, content.hash);
  }

  // Two stores take them. Until both have, the section has no name, so that whatever is told next is written whole.
  async function putBaselines(
    sensorId: string,
    { items }: Content,
    nowMs: number,
  ): Promise<number> {
    const section = 'baselines';
    const keptAtMs = (await store.get(sensorId, section))?.storedAtMs ?? null;
    remember(sensorId, section, UNSURE);
    // An attempt that ends here must not make the section look older than its rows.
    const unsureMs = keptAtMs === null ? nowMs : Math.max(nowMs, keptAtMs + 1);
    await store.put({ sensorId, section, ...storedOf({ hash: UNSURE, items }), nowMs: unsureMs });
    return await storeBaselines(deps.baselines, { sensorId, items, keptAtMs, nowMs });
  }

  /** Habits are told seldom, so the store is asked: another Console may have written since. */
  async function holds(sensorId: string, section: InventorySectionName, sent: InventorySection) {
    if (section !== 'baselines') return known(sensorId, section) === sent.hash;
    const stored = await store.get(sensorId, section);
    if (sent.items?.length !== 0) return stored?.hash === sent.hash;
    // A database that went back forgot the section, or knows the empty one of then, and the rows are there.
    const rows = await deps.baselines.baselinesOf({ sensorId, limit: 1, afterBinary: null });
    return rows.length === 0 && (stored === null || stored.hash === sent.hash);
  }

  async function take(
    sensorId: string,
    section: InventorySectionName,
    sent: InventorySection,
    options: { readonly isFull: boolean; readonly nowMs: number },
  ): Promise<Answer> {
    // A node of another flavor may send telecom data; this Console has no use for it.
    if (section === 'telecom' && platform !== 'telecom') return 'unchanged';
    if (await holds(sensorId, section, sent)) return 'unchanged';
    if (sent.items !== undefined) {
      await put(sensorId, section, sent, options.nowMs);
      return 'stored';
    }
    if (options.isFull || known(sensorId, section) !== sent.base_hash) return 'need_full';
    const base = await store.get(sensorId, section);
    const items = base?.hash === sent.base_hash ? applyDelta(base.items, sent) : null;
    if (items === null) return 'need_full';
    await put(sensorId, section, { hash: sent.hash, items, total: sent.total }, options.nowMs);
    return 'stored';
  }

  async function takeAll(sensorId: string, request: InventoryRequest, nowMs: number) {
    const response: Record<Answer, InventorySectionName[]> = {
      unchanged: [],
      stored: [],
      need_full: [],
    };
    for (const section of INVENTORY_SECTIONS) {
      const sent = request.sections[section];
      if (sent === undefined) continue;
      const options = { isFull: request.is_full_snapshot, nowMs };
      response[await take(sensorId, section, sent, options)].push(section);
    }
    return { ok: true as const, response };
  }

  return {
    async load() {
      const rows = await store.loadHashes();
      hashes.clear();
      for (const { sensorId, section, hash } of rows) remember(sensorId, section, hash);
    },
    async receive(sensorId, request, nowMs) {
      const running = lanes.run(sensorId, () =>
        orUnavailable(() => takeAll(sensorId, request, nowMs)),
      );
      return running === null ? storeUnavailable() : await running;
    },
    observe(sensorId, section, { items, hash: named, total }, nowMs) {
      look.served(sensorId, nowMs);
      if (items === undefined) return;
      if (items.length === 0 && known(sensorId, section) === undefined) return;
      const key = `${sensorId} ${section}`;
      // A Sensor that does not name its lists gets the name that its inventory has for them.
      const content = named === undefined ? contentOf(items) : { hash: named, items, total };
      // One write of a section at a time: what changed meanwhile is not named as stored and comes again.
      if (onTheirWay.has(key) || known(sensorId, section) === content.hash) return;
      if (onTheirWay.size >= INVENTORY_WRITES_IN_FLIGHT_MAX) return;
      onTheirWay.add(key);
      const running = lanes.run(sensorId, () => put(sensorId, section, content, nowMs));
      void (running ?? Promise.reject(new Error('the lane is full')))
        .catch((error: unknown) => {
          logger.warn({ sensorId, section, error: String(error) }, 'inventory was not written');
        })
        .finally(() => onTheirWay.delete(key));
    },
    storedSections(sensorId) {
      const stored: SectionHashes = {};
      for (const section of ['connections', 'listening_services'] as const) {
        const hash = known(sensorId, section);
        const isSure = hash !== UNSURE && !onTheirWay.has(`${sensorId} ${section}`);
        if (hash !== undefined && isSure) stored[section] = hash;
      }
      return stored;
    },
  };
}

/** What a Sensor says of the whole is believed no further than that it is more than it told. */
function storedOf({ hash, items, total = 0 }: Content) {
  return { hash, items, nodeTotal: total > items.length ? total : null };
}
