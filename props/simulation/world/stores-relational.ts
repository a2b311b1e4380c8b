// The simulated PostgreSQL: one durable state, and the ports of every Console life over its own way to it. A call is one
// transaction; the fact writer is the product's own, with a simulated write.

import {
  DATABASE_CONNECT_TIMEOUT_MS,
  DATABASE_CONNECTIONS_MAX,
  DATABASE_TIMEOUT_MS,
  IDENTITY_WATCH_TIMEOUT_MS,
} from '../../../machines/limits.ts';
import { auditCalls } from '../../../storage/memory/audit/audit-log.ts';
import { emptyLabels, isLabelled } from '../../../storage/memory/fleet/labels.ts';
import { keepFacts, type RegistryPort } from '../../../storage/memory/fleet/registry-calls.ts';
import { emptyRegistry, type RegistryState } from '../../../storage/memory/fleet/registry-state.ts';
import { memoryStores, type PlainStores } from '../../../storage/memory/memory-stores.ts';
import { type Calls, portOf, portsOf } from '../../../storage/memory/plumbing/unsafe-port-of.ts';
import { emptyDesignation, fenceOf } from '../../../storage/memory/runtime/designation.ts';
import type { AccessStores } from '../../../storage/ports/access/stores.ts';
import type { UserRow } from '../../../storage/ports/access/users.ts';
import type { AuditCheckpoint } from '../../../storage/ports/audit/audit-chain.ts';
import type { AuditEntry, AuditLog, AuditRow } from '../../../storage/ports/audit/audit-log.ts';
import type { DeliveryStore } from '../../../storage/ports/delivery/delivery-store.ts';
import type { WebhookStore } from '../../../storage/ports/delivery/webhook-store.ts';
import type { AlertStore } from '../../../storage/ports/detection/alert-store.ts';
import type { RuleStore } from '../../../storage/ports/detection/rule-store.ts';
import type { Time } from '../../../storage/ports/plumbing/clock.ts';
import type { Logger } from '../../../storage/ports/plumbing/logger.ts';
import { StoreUnavailable } from '../../../storage/ports/plumbing/store-unavailable.ts';
import type { RelationalStores } from '../../../storage/ports/stores.ts';
import type { InventoryStore } from '../../../storage/ports/telemetry/inventory-store.ts';
import {
  createFactWriter,
  type FactWriterOptions,
} from '../../../storage/relational/fleet/fact-writer.ts';
import { WORLD_BEGINS_MS } from './clocks.ts';
import type { Life } from './life.ts';
import { observedPolicies } from './policy-watch.ts';
import { createSimulatedChain } from './stores-audit-chain.ts';
import { createSimulatedDesignation, type SimulatedDesignation } from './stores-designation.ts';
import { healWay, noWayFaults, type RelationalFaults, takesTime } from './stores-faults.ts';
import { createNotifications } from './stores-identity-watch.ts';
import { observedRegistry } from './stores-observed.ts';
import { observedAccess } from './stores-people.ts';
import { askOver, createFrozen, createWay } from './stores-way.ts';
import type { World } from './world.ts';

const NOTIFICATION_MS = { least: 1, most: 5 } as const;

export type SimulatedRelationalPorts = RelationalStores & {
  /** Writes what the fact writer holds, then refuses more facts. */
  close(): Promise<void>;
};

export type SimulatedRelational = {
  readonly faults: RelationalFaults;
  heal(): void;
  /** What is durable, for checkers: read only. */
  readonly state: RegistryState;
  people(): readonly UserRow[];
  auditEntries(): readonly AuditRow[];
  auditRows(): readonly AuditRow[];
  auditCheckpoints(): readonly AuditCheckpoint[];
  /** What is stored of a section of a node's inventory; null when it never was. */
  readonly section: Calls<InventoryStore>['get'];
  /** Alerts and alert rules as they are stored. */
  readonly inbox: Calls<Pick<AlertStore, 'list' | 'get' | 'events' | 'counted' | 'untold'>>;
  readonly rules: Calls<Pick<RuleStore, 'list'>>;
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
};

export type RelationalStoreOptions = {
  readonly world: World;
  readonly logger: Logger;
  readonly intervals: FactWriterOptions['intervals'];
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
  });
  const audit = auditCalls(fenceOf(tenures));
  const chain = createSimulatedChain(audit.chain, world.observe, () => takesTime(faults));
  let written = 0;
  function record(entry: AuditEntry): void {
    written += 1;
    audit.record(entry);
  }
  const auditLog = {
    ...audit.calls,
    append: (entries: readonly AuditEntry[]) => entries.forEach(record),
  };
  const labels = emptyLabels();
  const state = emptyRegistry(record, notifications.notify, (id, filter) =>
    isLabelled(labels, id, filter),
  );
  const registry = observedRegistry(state, world.observe);
  const access = observedAccess(record, world.observe);
  const made = memoryStores({
    ...{ record, fence: fenceOf(tenures), registry: state, labels, hasUser: access.has },
    now: () => WORLD_BEGINS_MS + world.scheduler.now(),
  });
  const plain = { ...made, policies: observedPolicies(made.policies, world.observe) };
  const frozen = createFrozen(world.scheduler, faults);

  const auditRows = (): readonly AuditRow[] => audit.calls.recent(Number.MAX_SAFE_INTEGER);

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
    const facts = createFactWriter({
      timers: time,
      logger: options.logger,
      intervals: options.intervals,
      write: (rows) =>
        way.ask('facts.write', () => {
          for (const row of rows) keepFacts(state, row);
        }),
    });
    return {
      sensors: {
        ...portOf<RegistryPort>('sensors', registry, ask),
        watchIdentities: (watch) =>
          way.askWithin(IDENTITY_WATCH_TIMEOUT_MS, 'sensors.watchIdentities', () => {
            if (notifications.failureOf(life.host) !== null) {
              throw new StoreUnavailable('the notification connection is cut');
            }
            return notifications.watch(life, time, watch);
          }),
      },
      facts,
      ...portsOf<AccessStores>(access.stores, ask),
      ...portsOf<PlainStores>(plain, ask),
      audit: portOf<AuditLog>('audit', auditLog, ask),
      auditChain: chain.portFor(life, way),
      designation: designation.portFor(life, way),
      health: {
        ping: () => way.ask('health.ping', () => true).catch(() => false),
      },
      close: () => facts.close(),
    };
  }

  return {
    faults,
    heal() {
      healWay(faults);
      faults.notificationsCut.clear();
      faults.notificationMs = NOTIFICATION_MS;
    },
    state,
    people: access.people,
    auditEntries: auditRows,
    auditRows,
    auditCheckpoints: () => audit.chain.checkpoints({ after: 0, limit: Number.MAX_SAFE_INTEGER }),
    section: plain.inventory.get,
    ...{ inbox: plain.alerts, rules: plain.alertRules },
    ...{ deliveries: plain.deliveries, webhooks: plain.webhooks },
    auditTail: () => written - chain.sealed(),
    breakSealerLock: chain.breakLock,
    keepSessions: access.keepSessions,
    designation,
    portsFor,
  };
}
