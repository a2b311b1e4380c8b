// One heartbeat: what is written and told of it, and what it is answered when the stores, the actor or the other
// capabilities say this or that.
import { beforeEach, describe, expect, it } from 'vitest';
import { NOT_CONTAINED } from '../../machines/console/fleet/sensor-containment.rules.ts';
import { refuse } from '../../machines/errors.ts';
import { DEFAULT_INTERVALS as INTERVALS } from '../../machines/intervals.ts';
import { HEARTBEAT_BODY_MAX_BYTES } from '../../machines/limits.ts';
import type { HeartbeatDeps } from './deps.ts';
import { ask, IDENTITY, NOW_MS, openAdmission } from './exchange.fixture.ts';
import { handleHeartbeat } from './heartbeat-route.ts';

const AT = '2025-12-31T23:59:00.000Z';
const COUNTS = {
  ...{ read: 1, normalized: 2, dropped: 3, aggregated: 4, spooled: 5, spool_depth: 6 },
  ...{ discarded: 7, sent_stream: 8, sent_heartbeat: 9, engine_lost: 10 },
};
const EVENT = {
  ...{ event_id: '3'.repeat(32), schema_version: 1, event_kind: 'process_exec' },
  ...{ observed_at: AT, severity: 'info', message: 'it ran' },
};
const SYSTEM = { os_name: 'Linux', os_version: '12', architecture: 'x64', kernel_version: '6' };
const TRUST = { state: 'trusted', certificate_expires_at: AT, renewal_status: 'ok' };
const ENGINE = {
  ...{ kind: 'procfs', version: '1', state: 'running', restarts: 2 },
  ...{ disabled_hooks: [] as object[], loaded_policies: [] as object[] },
};
const BEAT = {
  ...{ stream_id: '2'.repeat(32), sequence: 0, sent_at: AT, boot_id: 'boot', events: [] },
  sensor: { version: '1.0.0', flavor: 'standard', capabilities: ['word'] },
  ...{ engine: ENGINE, trust: TRUST, flows: [], system: SYSTEM, pipeline: COUNTS },
  resources: { cpu_percent: 1, memory_bytes: 2 },
};
const WITH_EVENTS = { ...BEAT, sequence: 7, events: [EVENT] };
const VIEW = {
  ...{ health: 'healthy', because: [], trustState: 'trusted', hasFacts: true },
  containment: NOT_CONTAINED,
};

let written: { facts: unknown }[];
let told: unknown[];
let stored: unknown[];
let view: object | null;
let isWritten: boolean;
let outcome: object;
let parts: object[];
let identity: object;
beforeEach(() => {
  [written, told, stored, parts] = [[], [], [], []];
  [view, isWritten, identity] = [VIEW, true, IDENTITY];
  outcome = { ok: true, acknowledged: 7, repeated: false };
});

async function beat(body: object = BEAT, more: object = {}) {
  const asked = ask({ body: JSON.stringify(body) });
  const deps = {
    ...openAdmission().deps,
    cache: { judge: () => ({ ok: true, identity }) },
    sensors: { view: () => view, tell: (...words: unknown[]) => void told.push(words) },
    facts: {
      async write(facts: { facts: unknown }) {
        written.push(facts);
        return isWritten;
      },
    },
    ...{ platform: 'standard', parts: () => parts },
    ingest: {
      ledgers: {
        highest(name: unknown) {
          stored.push(name);
          return 3;
        },
      },
      async ingest(batch: unknown) {
        stored.push(batch);
        return outcome;
      },
    },
    ...more,
  } as unknown as HeartbeatDeps;
  await handleHeartbeat(deps, asked.exchange);
  return asked.answer();
}

describe('a heartbeat', () => {
  it('should be answered by what the Console knows and wants', async () => {
    const answer = await beat();
    expect([answer?.status, answer?.body]).toEqual([
      200,
      {
        acknowledged_sequence: 3,
        server_time: '2026-01-01T00:00:00.000Z',
        trust_health: 'healthy',
        certificate: {
          ...{ renewal_state: 'trusted', renew_now: false },
          expires_at: new Date(IDENTITY.notAfterMs).toISOString(),
        },
        is_contained: false,
        settings: {
          heartbeat_interval_seconds: INTERVALS.HEARTBEAT_INTERVAL_MS / 1_000,
          renewal_threshold_seconds: INTERVALS.RENEWAL_DUE_MS / 1_000,
        },
        stored_sections: {},
      },
    ]);
    const name = { sensorId: 's', streamId: BEAT.stream_id, channel: 'heartbeat' };
    expect(stored).toEqual([name]);
  });

  it('should be written as it is known, without what nobody reads', async () => {
    await beat({ ...BEAT, unknown: 1, system: { ...SYSTEM, unknown: 1 } });
    expect(written).toEqual([
      {
        ...{ sensorId: 's', receivedAtMs: NOW_MS, bootId: 'boot', sensorVersion: '1.0.0' },
        ...{ flavor: 'standard', flavorMismatch: false, declaredRole: null, system: SYSTEM },
        facts: {
          ...{ engine: ENGINE, trust: TRUST, pipeline: COUNTS, capabilities: ['word'] },
          resources: BEAT.resources,
        },
      },
    ]);
    expect(written[0]).not.toHaveProperty('facts.engine.mode');
  });

  it('should be written whole when it tells all', async () => {
    const engine = {
      ...{ ...ENGINE, mode: 'polling' },
      disabled_hooks: [
        { hook: 'a', reason: 'why', missing: true },
        { hook: 'b', reason: 'why', missing: false },
      ],
      loaded_policies: [{ name: 'p', state: 's', reason: 'r', acted: 1, would_have_acted: 2 }],
    };
    const trust = { ...TRUST, last_trust_error_at: AT, last_connection_error_at: AT };
    const resources = {
      ...{ ...BEAT.resources, load_1m: 3, uptime_seconds: 4, disk_free_bytes: 5 },
      node: { cpu_percent: 6, memory_total_bytes: 7, memory_available_bytes: 8 },
    };
    const sensor = { ...BEAT.sensor, flavor: 'telecom', declared_role: 'role' };
    await beat({ ...BEAT, engine, trust, resources, sensor });
    expect(written[0]).toMatchObject({
      ...{ flavor: 'telecom', flavorMismatch: true, declaredRole: 'role' },
      facts: {
        ...{ trust, resources },
        engine: { ...engine, disabled_hooks: [engine.disabled_hooks[0], { hook: 'b' }] },
      },
    });
    expect(written[0]).not.toHaveProperty('facts.engine.disabled_hooks.1.missing');
    const atMs = Date.parse(AT);
    expect(told).toMatchObject([
      [
        's',
        {
          ...{ lastTrustErrorAtMs: atMs, lastConnectionErrorAtMs: atMs },
          engineState: 'degraded',
        },
      ],
    ]);
  });

  it('should be told to the actor of its sensor', async () => {
    await beat({ ...BEAT, trust: { ...TRUST, last_trust_error_at: '2026-99-01T00:00:00Z' } });
    expect(told).toEqual([
      [
        's',
        {
          ...{ type: 'heartbeat.received', atMs: NOW_MS, reportedTrustState: 'trusted' },
          ...{ lastTrustErrorAtMs: null, lastConnectionErrorAtMs: null, engineState: 'running' },
        },
      ],
    ]);
  });

  it('should be refused when it is none, and leave no trace', async () => {
    expect((await beat({}))?.body.code).toBe('schema_violation');
    const large = { ...BEAT, more: 'x'.repeat(HEARTBEAT_BODY_MAX_BYTES) };
    expect((await beat(large))?.body.code).toBe('body_too_large');
    expect((await beat({ ...WITH_EVENTS, sequence: 0 }))?.body).toMatchObject({
      ...{ code: 'schema_violation', detail: 'A heartbeat with events needs a number.' },
      errors: [{ pointer: '/sequence', detail: 'must be 1 or more' }],
    });
    expect([written, told, stored]).toEqual([[], [], []]);
  });

  it('should bring events under its number, the first of which is one', async () => {
    expect((await beat({ ...WITH_EVENTS, sequence: 1 }))?.body).toMatchObject({
      acknowledged_sequence: 7,
    });
    expect(stored).toEqual([
      {
        ...{ identity: IDENTITY, streamId: BEAT.stream_id, channel: 'heartbeat', sequence: 1 },
        ...{ events: [EVENT], receivedAtMs: NOW_MS },
      },
    ]);
  });
});

describe('the answer to a heartbeat', () => {
  it('should say when events are to come again, and acknowledge no more than before', async () => {
    outcome = { ok: false, busy: true, retryAfterMs: 9 };
    const busy = await beat(WITH_EVENTS);
    expect(busy).toMatchObject({
      ...{ status: 200, body: { acknowledged_sequence: 3, retry_after_ms: 9 } },
    });
    outcome = { ok: true, acknowledged: 7, repeated: false };
    expect((await beat(WITH_EVENTS))?.body).not.toHaveProperty('retry_after_ms');
  });

  it('should be a refusal when its number has other events, or the database is away', async () => {
    outcome = { ...refuse('sequence_conflict', 'other'), busy: false };
    expect((await beat(WITH_EVENTS))?.body.code).toBe('sequence_conflict');
    isWritten = false;
    const retry = String(INTERVALS.RETRY_AFTER_STORE_MS / 1_000);
    for (const body of [BEAT, WITH_EVENTS]) {
      expect(await beat(body)).toMatchObject({
        ...{ status: 503, headers: { 'retry-after': retry }, body: { code: 'store_unavailable' } },
      });
    }
  });

  it('should ask for all that a Console does not know yet', async () => {
    view = { ...VIEW, hasFacts: false };
    expect((await beat())?.body).toMatchObject({ report_full_state: true });
    view = null;
    expect((await beat())?.body).toMatchObject({ report_full_state: true });
  });

  it('should ask for a renewal when it is time, and only the newest certificate', async () => {
    view = { ...VIEW, trustState: 'renewal_due', containment: { isContained: true } };
    expect((await beat())?.body).toMatchObject({
      ...{ certificate: { renewal_state: 'renewal_due', renew_now: true }, is_contained: true },
    });
    identity = { ...IDENTITY, status: 'overlapping' };
    expect((await beat())?.body).toMatchObject({ certificate: { renew_now: false } });
  });

  it('should go by the certificate where there is no actor', async () => {
    view = null;
    for (const [leftMs, health, state] of [
      [INTERVALS.RENEWAL_RECOMMENDED_MS + 1, 'degraded', 'trusted'],
      [INTERVALS.RENEWAL_RECOMMENDED_MS, 'renewal_recommended', 'renewal_recommended'],
      [INTERVALS.RENEWAL_DUE_MS, 'renewal_due', 'renewal_due'],
    ] as const) {
      identity = { ...IDENTITY, notAfterMs: NOW_MS + leftMs };
      expect((await beat())?.body).toMatchObject({
        ...{ trust_health: health, is_contained: false },
        certificate: { renewal_state: state, renew_now: state !== 'trusted' },
      });
    }
  });

  it('should hold what other capabilities take, keep and answer', async () => {
    const heard: unknown[] = [];
    const [connections, policy] = ['a'.repeat(64), 'b'.repeat(64)];
    parts = [
      {},
      {
        take: (...words: unknown[]) => void heard.push(['take', ...words]),
        facts: () => ({ capabilities: ['kept'] }),
        answer: (sensorId: string) => ({ one: sensorId, stored_sections: { connections } }),
      },
      {
        facts(...words: unknown[]) {
          heard.push(['facts', ...words]);
          return { containment: 1 };
        },
        answer: () => ({ two: 2, stored_sections: { policy } }),
      },
    ];
    expect((await beat())?.body).toMatchObject({
      ...{ one: 's', two: 2, stored_sections: { connections, policy } },
    });
    expect(written[0]?.facts).toMatchObject({ capabilities: ['kept'], containment: 1 });
    const words = [IDENTITY, expect.objectContaining({ boot_id: 'boot' }), NOW_MS];
    expect(heard).toEqual([
      ['take', ...words],
      ['facts', ...words],
    ]);
  });
});
