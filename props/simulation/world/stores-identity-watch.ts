// Notifications of changed identities: one connection per Console that can be cut while everything else works. A cut is
// found by the keep-alive of the product's own rhythm; what was to be told meanwhile is lost, as in the real database.
// An answered keep-alive proves that everything was told until then.

import {
  IDENTITY_WATCH_BACKOFF_MAX_MS,
  IDENTITY_WATCH_BACKOFF_MIN_MS,
  IDENTITY_WATCH_KEEPALIVE_MS,
  IDENTITY_WATCH_TIMEOUT_MS,
} from '../../../machines/limits.ts';
import type {
  IdentityWatch,
  SensorRegistry,
} from '../../../storage/ports/fleet/sensor-registry.ts';
import type { Time } from '../../../storage/ports/plumbing/clock.ts';
import type { Life } from './life.ts';
import type { Random } from './random.ts';
import { EVERYBODY, hits, type RelationalFaults } from './stores-faults.ts';

type Watch = Parameters<SensorRegistry['watchIdentities']>[0];
type Connection = {
  readonly host: string;
  /** Something was lost on it: it will be found dead. */
  isBroken: boolean;
  deliver(sensorId: string): void;
};

export type Notifications = {
  /** Tells every connection that works at this moment. */
  notify(sensorId: string): void;
  watch(life: Life, time: Time, watch: Watch): IdentityWatch;
  /** How a connection of this host fails now; null = it works. */
  failureOf(host: string): 'closed' | 'silent' | null;
  /** Ends every connection. */
  breakAll(): void;
};

/** Makes the notifications of one database. */
export function createNotifications(faults: RelationalFaults, random: Random): Notifications {
  const connections = new Set<Connection>();

  function failureOf(host: string): 'closed' | 'silent' | null {
    if (hits(faults.away, host)) return 'closed';
    if (hits(faults.stall, host)) return 'silent';
    return faults.notificationsCut.get(host) ?? faults.notificationsCut.get(EVERYBODY) ?? null;
  }

  function open(life: Life, watch: Watch): Connection {
    const own: Connection = {
      host: life.host,
      isBroken: false,
      deliver(sensorId) {
        const { least, most } = faults.notificationMs;
        life.arrive(least + random.next() * (most - least), () => {
          if (!connections.has(own)) return;
          if (failureOf(life.host) === null && !own.isBroken) watch.onChange(sensorId);
          else own.isBroken = true;
        });
      },
    };
    connections.add(own);
    return own;
  }

  function watch(life: Life, time: Time, told: Watch): IdentityWatch {
    let connection: Connection | null = open(life, told);
    let backoffMs = IDENTITY_WATCH_BACKOFF_MIN_MS;
    let timer: unknown = time.setTimeout(keepAlive, IDENTITY_WATCH_KEEPALIVE_MS);
    let provenAtMs = time.monotonicNow();

    function keepAlive(): void {
      const failure = connection?.isBroken === true ? 'closed' : failureOf(life.host);
      // Its answer comes behind what was told before.
      if (failure === null) life.hear(prove);
      else if (failure === 'closed') lose();
      else timer = time.setTimeout(lose, IDENTITY_WATCH_TIMEOUT_MS);
    }

    function prove(): void {
      provenAtMs = time.monotonicNow();
      timer = time.setTimeout(keepAlive, IDENTITY_WATCH_KEEPALIVE_MS);
    }

    function lose(): void {
      close();
      told.onLost();
      timer = time.setTimeout(reconnect, backoffMs);
    }

    function reconnect(): void {
      const failure = failureOf(life.host);
      if (failure === null) {
        connection = open(life, told);
        backoffMs = IDENTITY_WATCH_BACKOFF_MIN_MS;
        prove();
        told.onRestored();
        return;
      }
      backoffMs = Math.min(backoffMs * 2, IDENTITY_WATCH_BACKOFF_MAX_MS);
      const waitMs = failure === 'silent' ? IDENTITY_WATCH_TIMEOUT_MS : 0;
      timer = time.setTimeout(reconnect, backoffMs + waitMs);
    }

    function close(): void {
      if (connection !== null) connections.delete(connection);
      connection = null;
    }

    life.onEnd(close);
    return {
      provenAgoMs: () => time.monotonicNow() - provenAtMs,
      async stop() {
        time.clearTimeout(timer);
        close();
      },
    };
  }

  return {
    failureOf,
    breakAll() {
      for (const one of connections) one.isBroken = true;
    },
    watch,
    notify(sensorId) {
      for (const one of connections) {
        if (failureOf(one.host) === null) one.deliver(sensorId);
        else one.isBroken = true;
      }
    },
  };
}
