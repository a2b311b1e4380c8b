// Made-up rows for the contracts: every call gives new identities, so suites can share one database.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import type { CertificateRow, EnrollInput } from '../../storage/ports/fleet/sensor-registry.ts';
import type { EventBatch } from '../../storage/ports/telemetry/event-store.ts';

export const NOW_MS = Date.now();
export const HOSTILE = `'"; DROP TABLE x; -- \\ \u0000 😀 \n\t {p:String} __proto__`;

export function hex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

export function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

export function certificate(more: Partial<CertificateRow> = {}): CertificateRow {
  return {
    fingerprint: hex(32),
    reference: hex(8),
    serial: hex(16),
    keyDigest: hex(32),
    pem: '-----BEGIN CERTIFICATE-----',
    notBeforeMs: NOW_MS - 300_000,
    notAfterMs: NOW_MS + 2_592_000_000,
    ...more,
  };
}

export function enrollment(more: Partial<EnrollInput> = {}): EnrollInput {
  return {
    tokenHash: hashOf(hex(16)),
    nowMs: NOW_MS,
    sensor: {
      sensorId: randomUUID(),
      nodeName: `node-${hex(4)}`,
      flavor: 'standard',
      declaredRole: null,
      labels: { site: HOSTILE },
      system: {
        os_name: 'Debian',
        os_version: '12',
        architecture: 'x64',
        kernel_version: '6.18',
      },
      bootId: hex(16),
      sensorVersion: '1.0.0',
      flavorMismatch: false,
    },
    certificate: certificate(),
    nodesAllowed: null,
    ...more,
  };
}

/** What a heartbeat tells of how its node is meant. */
export const TOLD = { flavor: 'standard', flavorMismatch: false, declaredRole: null } as const;

export function event(more: Partial<RuntimeEvent> = {}): RuntimeEvent {
  return {
    event_id: hex(16),
    schema_version: 1,
    observed_at: new Date(NOW_MS).toISOString(),
    event_kind: 'process_exec',
    severity: 'info',
    message: 'a process started',
    process: { exec_id: hex(8), pid: 4_711, uid: 0, binary: '/usr/bin/id', arguments: '-u' },
    ...more,
  };
}

export function batch(more: Partial<EventBatch> = {}): EventBatch {
  return {
    sensorId: randomUUID(),
    nodeName: 'node-a',
    streamId: hex(16),
    channel: 'stream',
    sequence: 1,
    digest: hex(32),
    receivedAtMs: NOW_MS,
    events: [event(), event()],
    ...more,
  };
}
