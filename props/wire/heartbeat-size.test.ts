// A heartbeat is never longer than a Console takes, whatever its parts hold: one that is too long would be refused with the
// events in it, and those would be given up though nothing is wrong with them. invariant: I1
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  HEARTBEAT_BODY_MAX_BYTES,
  LOSS_HOURS_MAX,
  NODE_MACHINES_MAX,
} from '../../machines/limits.ts';
import { PACK_NAMESPACES_MAX, PACK_POLICIES_MAX } from '../../machines/policy/limits.ts';
import { EMPTY_LOSS_LEDGER, settle } from '../../machines/sensor/loss-ledger.rules.ts';
import { HeartbeatRequest } from '../../machines/wire/heartbeat.ts';
import { TOLD_MEMBERS } from '../../machines/wire/heartbeat-members.ts';
import { LOSS_PLACES } from '../../machines/wire/loss.ts';
import { parserOf } from '../../machines/wire/parse.ts';
import type { PolicyReport } from '../../machines/wire/policy.ts';
import { emptyFacts } from '../../sensor/actors/facts.ts';
import { heartbeatText, membersText } from '../../sensor/actors/heartbeat-body.ts';
import { engineWithin } from '../../sensor/capabilities/engine/engine-within.ts';
import { createLossReporter } from '../../sensor/capabilities/losses/loss-reporter.ts';
import { policyWithin } from '../../sensor/capabilities/policy/policy-report.ts';
import { createSocketReport } from '../../sensor/capabilities/telemetry/socket-report.ts';
import { createFlowTable } from '../../sensor/telemetry/flows.ts';
import { eventLike } from '../pipeline/event-like.ts';
import { longestOf } from './longest.ts';

const read = parserOf(HeartbeatRequest);
const MOST = Number.MAX_SAFE_INTEGER;
// A plain letter, one of two bytes, one of four in two units, and one that JSON writes as six.
const letter = fc.constantFrom('a', 'ü', '😀', '\u0001');
const few = fc.integer({ min: 0, max: 1_000 });
const AT = '2026-03-01T12:00:00.000Z';

/** Every text as long as its field takes, of one letter, and each different. */
const textOf = (unit: string, chars: number, n = 0): string =>
  `${n} ${unit.repeat(chars)}`.slice(0, chars);

function socketsOf(unit: string, count: number) {
  const holder = (n: number) => ({ pid: n, binary: textOf(unit, 256, n) });
  const each = Array.from({ length: count }, (_, n) => n);
  return {
    listening_services: each.map((n) => ({ protocol: 'tcp', ip: '::', port: n, ...holder(n) })),
    connections: each.map((n) => ({
      ...{ protocol: 'tcp', local_ip: '::1', local_port: n, remote_ip: '::1', remote_port: n },
      ...{ state: 'established', ...holder(n) },
    })),
  };
}

function flowsOf(unit: string, count: number) {
  const table = createFlowTable();
  for (let n = 0; n < count; n += 1) {
    const event = eventLike(n, {
      event_kind: 'network_connect',
      process: { exec_id: 'x', pid: 1, binary: textOf(unit, 4_096, n) },
      network: {
        ...{ protocol: textOf(unit, 8), direction: 'outbound', destination_port: n },
        ...{ destination_ip: textOf(unit, 64, n), domain: textOf(unit, 256, n) },
      },
      workload: { container_id: textOf(unit, 128) },
    });
    table.note(event, n);
  }
  return table;
}

function engineOf(unit: string, count: number) {
  const { engine } = emptyFacts();
  const each = Array.from({ length: count }, (_, n) => n);
  return {
    ...engine,
    disabled_hooks: each.slice(0, 256).map((n) => ({
      ...{ hook: textOf(unit, 256, n), reason: textOf(unit, 512, n) },
    })),
    loaded_policies: each.map((n) => ({
      ...{ name: textOf(unit, 128, n), state: 'failed', reason: textOf(unit, 512, n) },
      ...{ acted: MOST, would_have_acted: MOST },
    })),
  };
}

function policiesOf(unit: string): PolicyReport {
  const each = Array.from({ length: 2 * PACK_POLICIES_MAX }, (_, n) => n);
  const [id, sha256] = ['00000000-0000-4000-8000-000000000000', '0'.repeat(64)];
  return {
    ...{ assignment_id: id, pack_id: id, version: 1_000_000_000, manifest_sha256: sha256 },
    in_force: { pack_id: id, version: 1_000_000_000, manifest_sha256: sha256 },
    ...{ state: 'failed', code: textOf(unit, 64), reason: textOf(unit, 512), mode: 'enforce' },
    namespace_scope: Array.from({ length: PACK_NAMESPACES_MAX }, (_, n) => `n${n}`.padEnd(63, '0')),
    ...{ highest_version: 1, enforcement_revision: MOST, custom_revision: MOST },
    signing_keys_sha256: sha256,
    policies: each.map((n) => ({
      ...{ name: textOf(unit, 128, n), state: 'failed', reason: textOf(unit, 512, n), sha256 },
      ...{ code: textOf(unit, 64, n), acted: MOST, would_have_acted: MOST },
    })),
  };
}

/** What capabilities tell within a share that the Sensor keeps, by the name of its member. */
function boundedOf(unit: string): Partial<Record<keyof typeof TOLD_MEMBERS, string>> {
  const machine = { machine: 'a'.repeat(32), value: 'a'.repeat(256), since: AT, due: AT };
  return {
    loss: membersText({ loss: createLossReporter('0'.repeat(16)).next(fullLedger()) }),
    policy: membersText({ policy: policyWithin(policiesOf(unit)) }),
    machines: membersText({
      machines: Array.from({ length: NODE_MACHINES_MAX }, () => machine),
    }),
  };
}

/** And every other member, as long as its schema lets it be. decision: D174 */
function membersOf(unit: string): readonly string[] {
  const bounded: Readonly<Record<string, string>> = boundedOf(unit);
  return Object.entries(TOLD_MEMBERS).map(
    ([name, schema]) => bounded[name] ?? membersText({ [name]: longestOf(schema, unit) }),
  );
}

function fullLedger() {
  const places = ['seen', ...LOSS_PLACES].map((name) => [name, 2 ** 45]);
  const counts = Object.fromEntries(places);
  const hours = Array.from({ length: LOSS_HOURS_MAX }, (_, hour) => hour);
  return hours.reduce((ledger, hour) => settle(ledger, hour, counts), EMPTY_LOSS_LEDGER);
}

/** As much as a heartbeat claims. */
function linesOf(unit: string): string[] {
  const line = JSON.stringify(eventLike(1, { message: textOf(unit, 2_000) }));
  const count = Math.floor(HEARTBEAT_BODY_MAX_BYTES / 2 / (Buffer.byteLength(line) + 1));
  return Array.from({ length: count }, () => line);
}

function bodyOf(unit: string, counts: { sockets: number; flows: number; engine: number }): string {
  const facts = emptyFacts();
  const parts = {
    ...{ facts, bootId: textOf(unit, 64), version: textOf(unit, 64), now: () => Date.parse(AT) },
    config: { flavor: 'standard', declaredRole: textOf(unit, 64) },
    system: {
      ...{ os_name: textOf(unit, 128), os_version: textOf(unit, 128) },
      ...{ architecture: textOf(unit, 64), kernel_version: textOf(unit, 256) },
    },
    spool: { streamId: '0'.repeat(32), depth: () => MOST, discarded: () => MOST },
  };
  const lines = linesOf(unit);
  return heartbeatText(parts as unknown as Parameters<typeof heartbeatText>[0], {
    batch: { channel: 'heartbeat', sequence: 1, lines, events: [], isFull: true },
    sequence: 1,
    announced: ['events.zstd', 'inventory.delta', 'stream.v1'],
    told: [
      createSocketReport().next(socketsOf(unit, counts.sockets)),
      membersText({ resources: { cpu_percent: 1, memory_bytes: MOST } }),
      membersText({ engine: engineWithin(engineOf(unit, counts.engine)) }),
      membersText({ flows: flowsOf(unit, counts.flows).report().flows }),
      membersText({ trust: facts.trust }),
      ...membersOf(unit),
    ],
  });
}

describe('a heartbeat', () => {
  it('is never longer than a Console takes, and never refused for what its parts hold', () => {
    fc.assert(
      fc.property(letter, few, few, few, (unit, sockets, flows, engine) => {
        const text = bodyOf(unit, { sockets, flows, engine });
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(HEARTBEAT_BODY_MAX_BYTES);
        expect(read(text)).toMatchObject({ ok: true });
      }),
      { numRuns: 12 },
    );
    const most = { sockets: 5_000, flows: 1_000, engine: 1_024 };
    const text = bodyOf('\u0001', most);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(HEARTBEAT_BODY_MAX_BYTES);
    expect(read(text)).toMatchObject({ ok: true });
  });

  it('always tells later what it could not tell of the flows', () => {
    const table = flowsOf('\u0001', 1_000);
    const told = new Set<string>();
    for (let beat = 0; beat < 20; beat += 1) {
      const { flows, confirm } = table.report();
      for (const { remote_ip: ip } of flows) told.add(ip);
      confirm();
    }
    expect(told.size).toBe(1_000);
    expect(table.report().flows).toEqual([]);
  });

  it('should leave what the engine says as it is when it fits', () => {
    const engine = engineOf('a', 100);
    expect(engineWithin(engine)).toBe(engine);
    const cut = engineWithin(engineOf('a', 800));
    expect(cut.loaded_policies).toHaveLength(800);
    expect(cut.loaded_policies[0]?.reason).toHaveLength(64);
  });
});
