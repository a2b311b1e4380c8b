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
import { baselineStoreContract } from './baseline-store.contract.ts';
import { designationContract } from './designation.contract.ts';
import { eventSinkContract } from './event-sink.contract.ts';
import { eventStoreContract } from './event-store.contract.ts';
import { relationalContracts } from './relational.contract.ts';
import type { RelayFault } from './relay.ts';
import { CONTRACT_FLOWS_MAX, ssoStoreContract } from './sso-store.contract.ts';
import { telemetryStoreContract } from './telemetry-store.contract.ts';

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
  relationalContracts({ port: () => memory, setAway });
  designationContract({ port: () => memory, setAway });
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
