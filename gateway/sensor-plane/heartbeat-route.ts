// POST /sensors/heartbeat, the hot path: no query, one parse, facts and events into the groups that are being gathered,
// and one answer when both are durable. When the event store is away the facts are still taken and the acknowledgment
// stays where it was; when the database is away nothing is confirmed. invariant: I1, I9; decision: D5, D6

import type { IngestOutcome } from '../../actors/telemetry/ingest.ts';
import { pipelineOf } from '../../actors/telemetry/telemetry-rows.ts';
import { storeUnavailable } from '../../actors/trust/outage.ts';
import type { SensorLiveFacts } from '../../actors/trust/sensor-actors.ts';
import { engineSeen } from '../../machines/console/fleet/sensor.rules.ts';
import { NOT_CONTAINED } from '../../machines/console/fleet/sensor-containment.rules.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { HEARTBEAT_BODY_MAX_BYTES } from '../../machines/limits.ts';
import { renewalWindow } from '../../machines/trust/certificate.rules.ts';
import { HeartbeatRequest, type HeartbeatResponse } from '../../machines/wire/heartbeat.ts';
import { parserOf } from '../../machines/wire/parse.ts';
import type {
  HeartbeatFacts,
  IdentityRecord,
  SensorFacts,
} from '../../storage/ports/fleet/sensor-registry.ts';
import type { Exchange } from '../listener/exchange.ts';
import { respondJson } from '../listener/respond.ts';
import { type Admitted, admitWithBody, answerRefusal } from './admission.ts';
import type { HeartbeatDeps } from './deps.ts';
import type { HeartbeatExtras } from './heartbeat-part.ts';
import { sensorSettingsOf } from './sensor-settings.ts';

const parse = parserOf(HeartbeatRequest);
const BODY = { maxBytes: HEARTBEAT_BODY_MAX_BYTES } as const;

/** What is left of a heartbeat while its writes run: they take longer than the events should stay in memory. */
type Taken = {
  readonly identity: IdentityRecord;
  readonly streamId: string;
  readonly hadFacts: boolean;
  readonly writing: Promise<boolean>;
  /** Null when there were no events. */
  readonly storing: Promise<IngestOutcome> | null;
};

/** Handles one heartbeat. */
export async function handleHeartbeat(deps: HeartbeatDeps, exchange: Exchange): Promise<void> {
  const admitted = await admitWithBody(deps, exchange, BODY);
  if (admitted === null) return;
  const taken = take(deps, admitted);
  // Returned and not awaited, so that text and events can be let go of here.
  return 'ok' in taken ? answerRefusal(exchange, taken) : answer(deps, exchange, taken);
}

function take(deps: HeartbeatDeps, { identity, text }: Admitted): Taken | Refusal {
  const parsed = parse(text);
  if (!parsed.ok) return parsed;
  const beat = parsed.value;
  if (beat.events.length > 0 && beat.sequence < 1) return needsNumber();
  const nowMs = deps.now();
  const hadFacts = deps.sensors.view(identity.sensorId, nowMs)?.hasFacts === true;
  tellActor(deps, identity, beat, nowMs);
  for (const part of deps.parts()) part.take?.(identity, beat, nowMs);
  return {
    identity,
    streamId: beat.stream_id,
    hadFacts,
    writing: deps.facts.write(factsOf(deps, identity, beat, nowMs)),
    storing: beat.events.length > 0 ? store(deps, identity, beat, nowMs) : null,
  };
}

async function answer(deps: HeartbeatDeps, exchange: Exchange, taken: Taken): Promise<void> {
  const outcome = await taken.storing;
  if (!(await taken.writing)) {
    return answerRefusal(exchange, storeUnavailable(deps.intervals.RETRY_AFTER_STORE_MS));
  }
  if (outcome !== null && !outcome.ok && !outcome.busy) return answerRefusal(exchange, outcome);
  respondJson(exchange, 200, answerTo(deps, taken, outcome));
}

function store(
  deps: HeartbeatDeps,
  identity: IdentityRecord,
  beat: HeartbeatRequest,
  receivedAtMs: number,
): Promise<IngestOutcome> {
  return deps.ingest.ingest({
    identity,
    streamId: beat.stream_id,
    channel: 'heartbeat',
    sequence: beat.sequence,
    events: beat.events,
    receivedAtMs,
  });
}

function tellActor(
  deps: HeartbeatDeps,
  identity: IdentityRecord,
  beat: HeartbeatRequest,
  atMs: number,
): void {
  deps.sensors.tell(identity.sensorId, {
    type: 'heartbeat.received',
    atMs,
    reportedTrustState: beat.trust.state,
    lastTrustErrorAtMs: instantOf(beat.trust.last_trust_error_at),
    lastConnectionErrorAtMs: instantOf(beat.trust.last_connection_error_at),
    engineState: engineSeen(beat.engine.state, beat.engine.disabled_hooks),
  });
}

/** Known fields only: what a newer Sensor adds is not kept, so that a row stays small. invariant: I10 */
function factsOf(
  deps: HeartbeatDeps,
  identity: IdentityRecord,
  beat: HeartbeatRequest,
  receivedAtMs: number,
): HeartbeatFacts {
  const { engine, trust, resources, system } = beat;
  return {
    sensorId: identity.sensorId,
    receivedAtMs,
    bootId: beat.boot_id,
    sensorVersion: beat.sensor.version,
    flavor: beat.sensor.flavor,
    flavorMismatch: beat.sensor.flavor !== deps.platform,
    declaredRole: beat.sensor.declared_role ?? null,
    system: {
      os_name: system.os_name,
      os_version: system.os_version,
      architecture: system.architecture,
      kernel_version: system.kernel_version,
    },
    facts: {
      engine: {
        kind: engine.kind,
        version: engine.version,
        ...(engine.mode === undefined ? {} : { mode: engine.mode }),
        state: engine.state,
        restarts: engine.restarts,
        disabled_hooks: engine.disabled_hooks.map(hookOf),
        loaded_policies: engine.loaded_policies.map(policyOf),
      },
      trust: {
        state: trust.state,
        certificate_expires_at: trust.certificate_expires_at,
        renewal_status: trust.renewal_status,
        last_trust_error_at: trust.last_trust_error_at,
        last_connection_error_at: trust.last_connection_error_at,
      },
      resources: {
        cpu_percent: resources.cpu_percent,
        memory_bytes: resources.memory_bytes,
        load_1m: resources.load_1m,
        uptime_seconds: resources.uptime_seconds,
        disk_free_bytes: resources.disk_free_bytes,
        node: nodeOf(resources.node),
      },
      pipeline: pipelineOf(beat.pipeline),
      capabilities: beat.sensor.capabilities,
      ...partsOf(deps, identity, beat, receivedAtMs),
    },
  };
}

function nodeOf(node: HeartbeatRequest['resources']['node']) {
  if (node === undefined) return undefined;
  const { cpu_percent, memory_total_bytes, memory_available_bytes } = node;
  return { cpu_percent, memory_total_bytes, memory_available_bytes };
}

/** What other capabilities keep of the sensor in its row. */
function partsOf(
  deps: HeartbeatDeps,
  identity: IdentityRecord,
  beat: HeartbeatRequest,
  nowMs: number,
): Partial<SensorFacts> {
  const kept = deps.parts().map((part) => part.facts?.(identity, beat, nowMs));
  return Object.assign({}, ...kept);
}

function hookOf({ hook, reason, missing }: HeartbeatRequest['engine']['disabled_hooks'][number]) {
  return { hook, reason, ...(missing === true ? { missing } : {}) };
}

function policyOf(one: HeartbeatRequest['engine']['loaded_policies'][number]) {
  const { name, state, reason, acted, would_have_acted } = one;
  return { name, state, reason, acted, would_have_acted };
}

function answerTo(
  deps: HeartbeatDeps,
  { identity, streamId, hadFacts }: Taken,
  outcome: IngestOutcome | null,
): HeartbeatResponse {
  const nowMs = deps.now();
  const view = deps.sensors.view(identity.sensorId, nowMs) ?? viewWithout(deps, identity, nowMs);
  return {
    acknowledged_sequence: outcome?.ok ? outcome.acknowledged : highestOf(deps, identity, streamId),
    server_time: new Date(nowMs).toISOString(),
    trust_health: view.health,
    certificate: {
      renewal_state: view.trustState,
      renew_now: view.trustState !== 'trusted' && identity.status === 'current',
      expires_at: new Date(identity.notAfterMs).toISOString(),
    },
    is_contained: view.containment.isContained,
    settings: sensorSettingsOf(deps.intervals),
    ...(hadFacts ? {} : { report_full_state: true }),
    ...extrasOf(deps, identity.sensorId),
    ...(outcome !== null && !outcome.ok && outcome.busy
      ? { retry_after_ms: outcome.retryAfterMs }
      : {}),
  };
}

function extrasOf(deps: HeartbeatDeps, sensorId: string): HeartbeatExtras {
  const extras: HeartbeatExtras = {};
  const stored: NonNullable<HeartbeatExtras['stored_sections']> = {};
  for (const part of deps.parts()) {
    const { stored_sections, ...more } = part.answer?.(sensorId) ?? {};
    Object.assign(extras, more);
    Object.assign(stored, stored_sections);
  }
  extras.stored_sections = stored;
  return extras;
}

function highestOf(deps: HeartbeatDeps, identity: IdentityRecord, streamId: string): number {
  const { sensorId } = identity;
  return deps.ingest.ledgers.highest({ sensorId, streamId, channel: 'heartbeat' });
}

/** Without an actor the certificate alone speaks. */
function viewWithout(
  deps: HeartbeatDeps,
  identity: IdentityRecord,
  nowMs: number,
): SensorLiveFacts {
  const window = renewalWindow(identity.notAfterMs, nowMs, {
    recommendedMs: deps.intervals.RENEWAL_RECOMMENDED_MS,
    dueMs: deps.intervals.RENEWAL_DUE_MS,
  });
  return {
    health: window === 'ok' ? 'degraded' : window,
    because: [],
    trustState: window === 'ok' ? 'trusted' : window,
    hasFacts: false,
    containment: NOT_CONTAINED,
  };
}

function instantOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

function needsNumber(): Refusal {
  return refuse('schema_violation', 'A heartbeat with events needs a number.', {
    errors: [{ pointer: '/sequence', detail: 'must be 1 or more' }],
  });
}
