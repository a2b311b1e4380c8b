// The reference fakes keep the same promises as the real stores.
import { randomUUID } from 'node:crypto';
import { describe } from 'vitest';
import { RETRY_AFTER_STORE_MS } from '../../machines/limits.ts';
import { createMemorySso } from '../../storage/memory/access/sso-store.ts';
import { createMemoryAudit } from '../../storage/memory/audit/audit-log.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import {
  createMemoryEvents,
  type MemoryMode,
} from '../../storage/memory/telemetry/memory-events.ts';
import { apiKeysContract } from './api-keys.contract.ts';
import { auditChainContract } from './audit-chain.contract.ts';
import { auditLogContract } from './audit-log.contract.ts';
import { baselineStoreContract } from './baseline-store.contract.ts';
import { containmentOrdersContract } from './containment-orders.contract.ts';
import { deliveriesContract } from './deliveries.contract.ts';
import { designationContract } from './designation.contract.ts';
import { eventSinkContract } from './event-sink.contract.ts';
import { eventStoreContract } from './event-store.contract.ts';
import { factWriterContract } from './fact-writer.contract.ts';
import { inventoryStoreContract } from './inventory-store.contract.ts';
import { licenseStoreContract } from './license-store.contract.ts';
import { ownershipContract } from './ownership.contract.ts';
import { peopleContract } from './people.contract.ts';
import { policyStoreContract } from './policy-store.contract.ts';
import type { RelayFault } from './relay.ts';
import { sensorRegistryContract } from './sensor-registry.contract.ts';
import { settingsStoreContract } from './settings-store.contract.ts';
import { CONTRACT_FLOWS_MAX, ssoStoreContract } from './sso-store.contract.ts';
import { teamsContract } from './teams.contract.ts';
import { telemetryStoreContract } from './telemetry-store.contract.ts';
import { userKeysContract } from './user-keys.contract.ts';

const MODES: Readonly<Record<RelayFault, MemoryMode>> = {
  none: 'work',
  away: 'fail',
  stalled: 'stall',
  answer_lost: 'fail_after',
  one_answer_lost: 'fail_after',
};

describe('relational ports in memory', () => {
  const memory = createMemoryRelational();
  const { setAway } = memory;
  sensorRegistryContract({ port: () => memory.sensors, setAway });
  factWriterContract({ port: () => memory, setAway });
  apiKeysContract({ port: () => memory.apiKeys, setAway });
  inventoryStoreContract({ port: () => memory.inventory, setAway });
  auditLogContract({ port: () => memory, setAway });
  auditChainContract({ port: () => memory, setAway });
  designationContract({ port: () => memory, setAway });
  licenseStoreContract({ port: () => memory, setAway });
  peopleContract({ port: () => memory, setAway });
  settingsStoreContract({ port: () => memory, setAway });
  containmentOrdersContract({ port: () => memory, setAway });
  deliveriesContract({ port: () => memory, setAway });
  policyStoreContract({ port: () => memory, setAway });
  teamsContract({ port: () => memory, setAway });
  ownershipContract({ port: () => memory, setAway });
  userKeysContract({ port: () => memory });
});

describe('identity providers in memory', () => {
  const log = createMemoryAudit();
  const { sso, setAway } = createMemorySso(log.record, CONTRACT_FLOWS_MAX);
  const newUser = async () => randomUUID();
  ssoStoreContract({ port: () => ({ sso, audit: log.audit, newUser }), setAway });
});

describe('event store in memory', () => {
  const memory = createMemoryEvents(RETRY_AFTER_STORE_MS);
  eventStoreContract({
    port: () => memory,
    setAway: (away) => memory.setMode(away ? 'fail' : 'work'),
  });
});

describe('telemetry in memory', () => {
  const memory = createMemoryEvents(RETRY_AFTER_STORE_MS);
  const setAway = (away: boolean) => memory.setMode(away ? 'fail' : 'work');
  telemetryStoreContract({ port: () => memory.telemetry, setAway });
  baselineStoreContract({ port: () => memory, setAway });
});

describe('event sink in memory', () => {
  eventSinkContract(async ({ queueRowsMax }) => {
    const { sink, events, setMode } = createMemoryEvents(RETRY_AFTER_STORE_MS, queueRowsMax);
    return {
      sink,
      events,
      setFault: (fault) => setMode(MODES[fault]),
      close: () => sink.close(),
    };
  });
});
