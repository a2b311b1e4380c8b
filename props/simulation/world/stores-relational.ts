// The simulated PostgreSQL: one durable state, and the ports of every Console life over its own way to it. A call is one
// transaction; the fact writer is the product's own, with a simulated write.

import {
  DATABASE_CONNECT_TIMEOUT_MS,
  DATABASE_CONNECTIONS_MAX,
  DATABASE_TIMEOUT_MS,
  IDENTITY_WATCH_TIMEOUT_MS,
} from '../../../machines/limits.ts';
import { isLabelled } from '../../../storage/memory/fleet/labels.ts';
import { keepFacts, type RegistryPort } from '../../../storage/memory/fleet/registry-calls.ts';
import { emptyRegistry, type RegistryState } from '../../../storage/memory/fleet/registry-state.ts';
import type { PlainStores } from '../../../storage/memory/memory-stores.ts';
import {
  type Ask,
  type Calls,
  portOf,
  portsOf,
} from '../../../storage/memory/plumbing/unsafe-port-of.ts';
import { emptyDesignation } from '../../../storage/memory/runtime/designation.ts';
import type { AccessStores } from '../../../storage/ports/access/stores.ts';
import type { UserRow } from '../../../storage/ports/access/users.ts';
import type { AuditChain, AuditCheckpoint } from '../../../storage/ports/audit/audit-chain.ts';
import type { AuditLog, AuditRow } from '../../../storage/ports/audit/audit-log.ts';
import type { DeliveryStore } from '../../../storage/ports/delivery/delivery-store.ts';
import type { WebhookStore } from '../../../storage/ports/delivery/webhook-store.ts';
import type { AlertStore } from '../../../storage/ports/detection/alert-store.ts';
import type { RuleStore } from '../../../storage/ports/detection/rule-store.ts';
import type { Time } from '../../../storage/ports/plumbing/clock.ts';
import type { Logger } from '../../../storage/ports/plumbing/logger.ts';
import { StoreUnavailable } from '../../../storage/ports/plumbing/store-unavailable.ts';
import type { LastTenure } from '../../../storage/ports/runtime/designation.ts';
import type { SettingsStore } from '../../../storage/ports/settings/settings-store.ts';
import type { RelationalStores } from '../../../storage/ports/stores.ts';
import type { InventoryStore } from '../../../storage/ports/telemetry/inventory-store.ts';
import { writeFactRows } from '../../../storage/relational/fleet/fact-rows.ts';
import {
  createFactWriter,
  type FactWriterOptions,
} from '../../../storage/relational/fleet/fact-writer.ts';
import { WORLD_BEGINS_MS } from './clocks.ts';
import { lookAtAll } from './closing-look.ts';
import type { Life } from './life.ts';
import type { RealLife, RealRelational } from './real-relational.ts';
import { createSimulatedChain } from './stores-audit-chain.ts';
import { emptyDatabase, type SimulatedDatabase } from './stores-database.ts';
import { createSimulatedDesignation, type SimulatedDesignation } from './stores-designation.ts';
import { healWay, noWayFaults, type RelationalFaults, takesTime } from './stores-faults.ts';
import { createNotifications } from './stores-identity-watch.ts';
import { createJournal, type Journal } from './stores-journal.ts';
import { askOver, createFrozen, createWay } from './stores-way.ts';
import type { World } from './world.ts';

/** Without a way between. */
const askAtOnce: Ask = async (_name, effect) => effect();
const NOTIFICATION_MS = { least: 1, most: 5 } as const;

export type SimulatedRelationalPorts = RelationalStores & {
  /** Writes what the fact writer holds, then refuses more facts. */
  close(): Promise<void>;
};

export type SimulatedRelational = {
  readonly faults: RelationalFaults;
  heal(): void;
  /** A replica takes over that lacks the last commits; every connection and transaction ends. */
  failOver(lostMs: number): void;
  /** What is durable, for checkers: read only. */
  readonly state: RegistryState;
  /** Also of what it forgot: the node of a sensor, and the sensor of a certificate. */
  nodeOf(sensorId: string): string | undefined;
  sensorOf(fingerprint: string): string | undefined;
  /** How many it forgot. */
  forgotten(): { readonly sensors: number; readonly certificates: number };
  people(): readonly UserRow[];
  auditEntries(): readonly AuditRow[];
  auditRows(): readonly AuditRow[];
  auditCheckpoints(): readonly AuditCheckpoint[];
  /** What is stored of a section of a node's inventory; null when it never was. */
  readonly section: Calls<InventoryStore>['get'];
  /** Alerts and alert rules as they are stored. */
  readonly inbox: Calls<Pick<AlertStore, 'list' | 'get' | 'events' | 'counted' | 'untold'>>;
  readonly rules: Calls<Pick<RuleStore, 'list'>>;
  readonly settings: Calls<Pick<SettingsStore, 'list'>>;
  /** Deliveries and their webhooks as they are stored. */
  readonly deliveries: Calls<Pick<DeliveryStore, 'list' | 'get'>>;
  readonly webhooks: Calls<Pick<WebhookStore, 'list'>>;
  /** Rows that are not sealed yet. */
  auditTail(): number;
  breakSealerLock(): void;
  /** From now on a change of an account ends no session. */
  keepSessions(): void;
  readonly designation: Pick<SimulatedDesignation, 'holder' | 'breakLock'>;
  portsFor(life: Life, time: Time): SimulatedRelationalPorts;
  /** Asks a real database, where there is one, for all that checkers look at. */
  lookAtAll(): Promise<void>;
};

export type RelationalStoreOptions = {
  readonly world: World;
  readonly logger: Logger;
  readonly intervals: FactWriterOptions['intervals'];
  /** Whether it may forget what it confirmed: then it has to remember how it came to be what it is. */
  readonly forgets?: boolean;
  /** The one that answers; the simulated one does unless told. */
  readonly real?: RealRelational | undefined;
};

/** Makes an empty database. */
export function createSimulatedRelational(options: RelationalStoreOptions): SimulatedRelational {
  const { world } = options;
  const faults: RelationalFaults = {
    ...noWayFaults(),
    notificationsCut: new Map(),
    notificationMs: NOTIFICATION_MS,
  };
  const notifications = createNotifications(faults, world.random.fork('notifications'));
  const tenures = emptyDesignation();
  const designation = createSimulatedDesignation({
    ...{ world, faults, state: tenures, random: world.random.fork('designation') },
    alone: (work) => options.real?.alone(work),
    begins: (tenure) => options.real?.begins(tenure),
    release: async (tenure) => options.real?.release(tenure),
    lost: (console, reason) => world.crashed(`the real session of ${console}`, new Error(reason)),
    keep: (last) => {
      journal.run(() => {
        tenures.last = last;
      });
    },
  });
  const say: World['observe'] = (seen) => {
    if (!journal.isReplaying()) world.observe(seen);
  };
  const state = emptyRegistry(
    (entry) => journal.current().audit.record(entry),
    (id) => {
      if (journal.isReplaying()) return;
      options.real?.expect(id);
      notifications.notify(id);
    },
    (id, filter) => isLabelled(journal.current().labels, id, filter),
  );
  // The statements of a real one count whole milliseconds.
  const wholeMs = (ms: number): number =>
    WORLD_BEGINS_MS + (options.real === undefined ? ms : Math.floor(ms));
  const journal: Journal<SimulatedDatabase> = createJournal({
    ...{ keeps: options.forgets === true, now: world.scheduler.now },
    make: () => emptyDatabase({ state, tenures, say, now: () => wholeMs(journal.now()) }),
  });
  const chain = createSimulatedChain(
    journal.routed((on) => on.audit.chain),
    world.observe,
    () => takesTime(faults),
    world.scheduler,
  );
  const ports = {
    registry: journal.routed((on) => on.registry),
    access: journal.routed((on) => on.access.stores),
    plain: journal.routed((on) => on.plain),
    audit: journal.routed((on) => on.audit.calls),
    chain: journal.routed((on) => on.audit.chain),
  };
  const seen = journal.seen((on) => on.plain);
  const forgotten = { nodes: new Map<string, string>(), sensors: new Map<string, string>() };
  const frozen = createFrozen(world.scheduler, faults);

  const auditRows = (): readonly AuditRow[] =>
    journal.current().audit.calls.recent(Number.MAX_SAFE_INTEGER);

  function portsFor(life: Life, time: Time): SimulatedRelationalPorts {
    const way = createWay({
      scheduler: world.scheduler,
      life,
      random: world.random.fork(`relational/${life.host}/${life.incarnation}`),
      faults,
      frozen,
      limits: {
        answerMs: DATABASE_TIMEOUT_MS + DATABASE_CONNECT_TIMEOUT_MS,
        connectionsMax: DATABASE_CONNECTIONS_MAX,
        connectMs: DATABASE_CONNECT_TIMEOUT_MS,
      },
      unavailable: (reason) => new StoreUnavailable(`the database cannot answer: ${reason}`),
    });
    const ask = askOver(way);
    const real = options.real?.lifeOf(life);
    const beside: RealLife['beside'] = real?.beside ?? ((_name, calls) => calls);
    const facts = createFactWriter({
      timers: time,
      logger: options.logger,
      intervals: options.intervals,
      write: (rows) =>
        way.ask('facts.write', () => {
          const keep = (): void =>
            journal.run(() => {
              for (const row of rows) keepFacts(state, row);
            });
          if (real === undefined) return keep();
          return real.sent('facts.write', () => writeFactRows(real.stores().db, rows), keep);
        }),
    });
    const pings = (): boolean =>
      real === undefined ||
      real.sent(
        'health.ping',
        () => real.stores().health.ping(),
        () => true,
      );
    return {
      sensors: {
        ...portOf<RegistryPort>(
          'sensors',
          beside('sensors', ports.registry, (on) => on.sensors),
          ask,
        ),
        watchIdentities: (watch) =>
          way.askWithin(IDENTITY_WATCH_TIMEOUT_MS, 'sensors.watchIdentities', () => {
            if (notifications.failureOf(life.host) !== null) {
              throw new StoreUnavailable('the notification connection is cut');
            }
            return notifications.watch(life, time, watch);
          }),
      },
      facts,
      ...portsOf<AccessStores>(
        beside('', ports.access, (on) => on),
        ask,
      ),
      ...portsOf<PlainStores>(
        beside('', ports.plain, (on) => on),
        ask,
      ),
      audit: portOf<AuditLog>(
        'audit',
        beside('audit', ports.audit, (on) => on.audit),
        ask,
      ),
      auditChain: chain.portFor(life, way, (calls) =>
        beside('audit_chain', calls, (on) => on.auditChain),
      ),
      designation: designation.portFor(life, way, real),
      health: {
        ping: () => way.ask('health.ping', pings).catch(() => false),
      },
      close: () => facts.close(),
    };
  }

  return {
    faults,
    failOver(lostMs) {
      const toMs = Math.max(0, world.scheduler.now() - lostMs);
      for (const one of state.sensors.values()) forgotten.nodes.set(one.sensorId, one.nodeName);
      for (const [name, { sensorId }] of state.certificates) forgotten.sensors.set(name, sensorId);
      journal.goBack(toMs);
      for (const id of state.sensors.keys()) forgotten.nodes.delete(id);
      for (const name of state.certificates.keys()) forgotten.sensors.delete(name);
      faults.server += 1;
      notifications.breakAll();
      chain.failOver(auditRows().filter(({ sequence }) => sequence !== null).length);
      designation.failOver();
      world.observe({ kind: 'relational.forgot', sinceMs: toMs });
    },
    heal() {
      healWay(faults);
      faults.notificationsCut.clear();
      faults.notificationMs = NOTIFICATION_MS;
    },
    state,
    nodeOf: (sensorId) => state.sensors.get(sensorId)?.nodeName ?? forgotten.nodes.get(sensorId),
    sensorOf: (fingerprint) =>
      state.certificates.get(fingerprint)?.sensorId ?? forgotten.sensors.get(fingerprint),
    forgotten: () => ({ sensors: forgotten.nodes.size, certificates: forgotten.sensors.size }),
    people: () => journal.current().access.people(),
    auditEntries: auditRows,
    auditRows,
    auditCheckpoints: () =>
      journal.current().audit.chain.checkpoints({ after: 0, limit: Number.MAX_SAFE_INTEGER }),
    section: seen.inventory.get,
    ...{ inbox: seen.alerts, rules: seen.alertRules, settings: seen.settings },
    ...{ deliveries: seen.deliveries, webhooks: seen.webhooks },
    auditTail: () => journal.current().audit.rows.length - chain.sealed(),
    breakSealerLock: chain.breakLock,
    keepSessions: () => journal.run(({ access }) => access.keepSessions()),
    designation,
    portsFor,
    async lookAtAll() {
      const real = options.real?.outside;
      if (real === undefined) return;
      const last = (): LastTenure => tenures.last;
      await lookAtAll({
        ...portsOf<AccessStores>(
          real.beside('', ports.access, (on) => on),
          askAtOnce,
        ),
        ...portsOf<PlainStores>(
          real.beside('', ports.plain, (on) => on),
          askAtOnce,
        ),
        audit: portOf<AuditLog>(
          'audit',
          real.beside('audit', ports.audit, (on) => on.audit),
          askAtOnce,
        ),
        sensors: portOf<RegistryPort>(
          'sensors',
          real.beside('sensors', ports.registry, (on) => on.sensors),
          askAtOnce,
        ),
        auditChain: portOf<AuditChain>(
          'audit_chain',
          real.beside('audit_chain', ports.chain, (on) => on.auditChain),
          askAtOnce,
        ),
        designation: {
          last: () => real.both('designation.last', () => real.stores().designation.last(), last),
        },
      });
    },
  };
}
