// One enrolled sensor as the Console sees it: six regions read as one snapshot. Rebuilt from facts, never from a stored
// snapshot. decision: D4, D14; invariant: I3, I8
//   trust        trusted | renewal_recommended | renewal_due by the certificate's dates; revoked is final
//   freshness    awaiting its first heartbeat | fresh | stale after the window of silence, unless a stream is open
//   stream       closed | open
//   engine       unknown | running | degraded | down, as the sensor reports
//   policy       unassigned | pending | in_force | rejected | failed, as assigned and reported
//   containment  released | containing | contained | releasing | failed, as ordered and confirmed
import { type ActorRefFrom, assign, type SnapshotFrom, setup } from 'xstate';
import {
  engineRegionOf,
  type HeartbeatReceived,
  heardOf,
  lastSeenMs,
  movedWithClock,
  type PolicyReport,
  type SensorContext,
  type SensorEvent,
  type SensorInput,
  trustStateAt,
  untilStaleMs,
  untilWindowMs,
} from './sensor.rules.ts';
import { CONTAINMENT_REGION } from './sensor-containment.region.ts';
import {
  containmentRegionOf,
  NOT_CONTAINED,
  type OrderFacts,
  type ReportFacts,
  untilVoidMs,
  withOrder,
  withReport,
} from './sensor-containment.rules.ts';

export type { SensorEvent } from './sensor.rules.ts';

export const sensorMachine = setup({
  types: {
    context: {} as SensorContext,
    events: {} as SensorEvent,
    input: {} as SensorInput,
    tags: {} as 'accepts-requests',
  },
  delays: {
    untilRecommendedMs: ({ context }) => untilWindowMs(context, context.windows.recommendedMs),
    untilDueMs: ({ context }) => untilWindowMs(context, context.windows.dueMs),
    untilStaleMs: ({ context }) => untilStaleMs(context),
    untilVoidMs: ({ context }) => untilVoidMs(context.containment, context.nowMs),
  },
  guards: {
    isRevoked: ({ context }) => context.revokedAtMs !== null,
    isDue: ({ context }) => trustStateAt(context) === 'renewal_due',
    isRecommended: ({ context }) => trustStateAt(context) === 'renewal_recommended',
    isStreamOpen: ({ context }) => context.streamOpen,
    hasHeartbeat: ({ context }) => context.lastHeartbeatAtMs !== null,
    wasHeardSince: ({ context }) =>
      lastSeenMs(context) + context.windows.stalenessMs > context.freshnessCheckAtMs,
    isEngine: (_, params: { state: HeartbeatReceived['engineState']; is: string }) =>
      engineRegionOf(params.state) === params.is,
    isPolicy: (_, params: { state: PolicyReport; is: PolicyReport }) => params.state === params.is,
    isContainment: ({ context }, params: { is: string }) =>
      containmentRegionOf(context.containment, context.nowMs) === params.is,
  },
  actions: {
    noteTime: assign({ nowMs: (_, params: { atMs: number }) => params.atMs }),
    noteWindow: assign({
      nowMs: ({ context }, params: { window: 'recommendedMs' | 'dueMs' }) =>
        Math.max(context.nowMs, (context.notAfterMs ?? 0) - context.windows[params.window]),
    }),
    noteHeartbeat: assign(({ context }, params: HeartbeatReceived) => heardOf(context, params)),
    noteStream: assign({ streamOpen: (_, params: { open: boolean }) => params.open }),
    noteCertificate: assign({
      notAfterMs: (_, params: { notAfterMs: number }) => params.notAfterMs,
    }),
    noteWindows: assign({
      windows: ({ context }, { dueMs }: { dueMs: number }) => ({ ...context.windows, dueMs }),
    }),
    noteOrder: assign({
      containment: ({ context }, { order }: { order: OrderFacts }) =>
        withOrder(context.containment, order),
    }),
    noteReport: assign({
      containment: ({ context }, { report }: { report: ReportFacts }) =>
        withReport(context.containment, report),
    }),
    noteVoid: assign({
      nowMs: ({ context }) => Math.max(context.nowMs, context.containment.order?.untilMs ?? 0),
    }),
    noteRevocation: assign({ revokedAtMs: (_, params: { atMs: number }) => params.atMs }),
    planFreshnessCheck: assign({
      freshnessCheckAtMs: ({ context }) => context.nowMs + untilStaleMs(context),
    }),
    // A sign of life ahead of the time that was counted proves the count wrong: the clock was, and nobody noticed.
    noteFreshnessCheck: assign({
      nowMs: ({ context }) =>
        Math.max(context.nowMs, context.freshnessCheckAtMs, lastSeenMs(context)),
    }),
    // A jump of the wall clock is not silence, nor is a pause of this process: the last sign of life moves with it.
    moveLastSeen: assign(({ context }, params: { atMs: number; byMs: number }) => ({
      nowMs: params.atMs,
      knownSinceMs: movedWithClock(context.knownSinceMs, params),
      lastHeartbeatAtMs:
        context.lastHeartbeatAtMs === null
          ? null
          : movedWithClock(context.lastHeartbeatAtMs, params),
    })),
  },
}).createMachine({
  id: 'sensor',
  type: 'parallel',
  context: ({ input }) => ({
    sensorId: input.sensorId,
    nowMs: input.nowMs,
    knownSinceMs: input.knownSinceMs,
    notAfterMs: input.notAfterMs,
    revokedAtMs: input.revokedAtMs,
    // Kept by a clock that was ahead, it would hide any silence until the time it names.
    lastHeartbeatAtMs:
      input.lastHeartbeatAtMs === null ? null : Math.min(input.lastHeartbeatAtMs, input.nowMs),
    freshnessCheckAtMs: input.nowMs,
    streamOpen: false,
    reportedTrustState: input.reportedTrustState,
    reportedSinceMs: input.reportedTrustState === null ? null : input.lastHeartbeatAtMs,
    lastTrustErrorAtMs: input.lastTrustErrorAtMs,
    lastConnectionErrorAtMs: input.lastConnectionErrorAtMs,
    windows: input.windows,
    containment: input.containment ?? NOT_CONTAINED,
  }),
  states: {
    trust: {
      initial: 'assessing',
      on: {
        'sensor.revoked': {
          target: '.revoked',
          // The instant may be one of another Console's clock: it says nothing about the time here.
          actions: { type: 'noteRevocation', params: ({ event }) => event },
        },
        'certificate.changed': {
          target: '.assessing',
          actions: [
            { type: 'noteTime', params: ({ event }) => event },
            { type: 'noteCertificate', params: ({ event }) => event },
          ],
        },
        'clock.jumped': {
          target: '.assessing',
          actions: { type: 'noteTime', params: ({ event }) => event },
        },
        // An operator moved the window in which a renewal is due.
        'windows.changed': {
          target: '.assessing',
          actions: [
            { type: 'noteTime', params: ({ event }) => event },
            { type: 'noteWindows', params: ({ event }) => event },
          ],
        },
      },
      states: {
        assessing: {
          description: 'Transient: the certificate dates decide at once.',
          always: [
            { guard: 'isRevoked', target: 'revoked' },
            { guard: 'isDue', target: 'renewal_due' },
            { guard: 'isRecommended', target: 'renewal_recommended' },
            { target: 'trusted' },
          ],
        },
        trusted: {
          description: 'The certificate is valid and outside both renewal windows.',
          tags: 'accepts-requests',
          after: {
            untilRecommendedMs: {
              target: 'assessing',
              actions: { type: 'noteWindow', params: { window: 'recommendedMs' } },
            },
          },
        },
        renewal_recommended: {
          description: 'The certificate ends within the recommended window; the sensor renews.',
          tags: 'accepts-requests',
          after: {
            untilDueMs: {
              target: 'assessing',
              actions: { type: 'noteWindow', params: { window: 'dueMs' } },
            },
          },
        },
        renewal_due: {
          description: 'The certificate ends within the due window, or has ended.',
          tags: 'accepts-requests',
        },
        revoked: {
          description: 'The identity was revoked. Nothing leaves this state.',
          on: { 'sensor.revoked': {}, 'certificate.changed': {}, 'clock.jumped': {} },
        },
      },
    },
    freshness: {
      initial: 'deciding',
      on: {
        'clock.jumped': {
          target: '.deciding',
          actions: { type: 'moveLastSeen', params: ({ event }) => event },
        },
      },
      states: {
        deciding: {
          description: 'Transient: is there a heartbeat or an open stream to be fresh from?',
          always: [
            { guard: 'hasHeartbeat', target: 'fresh' },
            { guard: 'isStreamOpen', target: 'fresh' },
            { target: 'awaiting' },
          ],
        },
        awaiting: {
          description: 'Enrolled, no heartbeat yet; silence counts from when it became known.',
          entry: 'planFreshnessCheck',
          after: { untilStaleMs: { target: 'stale', actions: 'noteFreshnessCheck' } },
          on: {
            'heartbeat.received': {
              target: 'fresh',
              actions: { type: 'noteHeartbeat', params: ({ event }) => event },
            },
            'stream.opened': {
              target: 'fresh',
              actions: { type: 'noteTime', params: ({ event }) => event },
            },
          },
        },
        fresh: {
          description: 'Heard within the window, or held fresh by an open stream.',
          entry: 'planFreshnessCheck',
          // One timer a window instead of one a heartbeat: when it fires, the newest heartbeat decides.
          after: {
            untilStaleMs: [
              { guard: 'isStreamOpen', actions: 'noteFreshnessCheck' },
              {
                guard: 'wasHeardSince',
                target: 'fresh',
                reenter: true,
                actions: 'noteFreshnessCheck',
              },
              { target: 'stale', actions: 'noteFreshnessCheck' },
            ],
          },
          on: {
            'heartbeat.received': {
              actions: { type: 'noteHeartbeat', params: ({ event }) => event },
            },
            'stream.closed': {
              target: 'fresh',
              reenter: true,
              actions: { type: 'noteTime', params: ({ event }) => event },
            },
          },
        },
        stale: {
          description: 'Silent for the whole window with no stream open.',
          on: {
            'heartbeat.received': {
              target: 'fresh',
              actions: { type: 'noteHeartbeat', params: ({ event }) => event },
            },
            'stream.opened': {
              target: 'fresh',
              actions: { type: 'noteTime', params: ({ event }) => event },
            },
          },
        },
      },
    },
    stream: {
      initial: 'closed',
      states: {
        closed: {
          description: 'No stream; events come with heartbeats and batches.',
          on: {
            'stream.opened': {
              target: 'open',
              actions: { type: 'noteStream', params: { open: true } },
            },
          },
        },
        open: {
          description: 'A live stream carries events and keeps the sensor fresh.',
          on: {
            'stream.closed': {
              target: 'closed',
              actions: { type: 'noteStream', params: { open: false } },
            },
          },
        },
      },
    },
    engine: {
      initial: 'unknown',
      on: {
        'heartbeat.received': [
          {
            guard: {
              type: 'isEngine',
              params: ({ event }) => ({ state: event.engineState, is: 'running' }),
            },
            target: '.running',
          },
          {
            guard: {
              type: 'isEngine',
              params: ({ event }) => ({ state: event.engineState, is: 'degraded' }),
            },
            target: '.degraded',
          },
          { target: '.down' },
        ],
      },
      states: {
        unknown: { description: 'No report yet.' },
        running: { description: 'The sensor reports a running engine.' },
        degraded: { description: 'It runs, and lacks what every engine is to see.' },
        down: { description: 'The sensor reports an engine that is not running.' },
      },
    },
    policy: {
      initial: 'unassigned',
      on: {
        'policy.assigned': '.pending',
        'policy.reported': [
          {
            guard: {
              type: 'isPolicy',
              params: ({ event }) => ({ state: event.state, is: 'in_force' }),
            },
            target: '.in_force',
          },
          {
            guard: {
              type: 'isPolicy',
              params: ({ event }) => ({ state: event.state, is: 'rejected' }),
            },
            target: '.rejected',
          },
          {
            guard: {
              type: 'isPolicy',
              params: ({ event }) => ({ state: event.state, is: 'failed' }),
            },
            target: '.failed',
          },
          {
            guard: {
              type: 'isPolicy',
              params: ({ event }) => ({ state: event.state, is: 'unassigned' }),
            },
            target: '.unassigned',
          },
          { target: '.pending' },
        ],
      },
      states: {
        unassigned: { description: 'No pack is assigned.' },
        pending: { description: 'A pack is assigned and not yet in force.' },
        in_force: { description: 'The assigned pack is enforcing or monitoring.' },
        rejected: { description: 'The sensor refused the pack.' },
        failed: { description: 'The engine could not apply the pack.' },
      },
    },
    containment: {
      initial: 'deciding',
      on: {
        'containment.ordered': {
          target: '.deciding',
          actions: [
            { type: 'noteTime', params: ({ event }) => event },
            { type: 'noteOrder', params: ({ event }) => event },
          ],
        },
        'containment.reported': {
          target: '.deciding',
          actions: [
            { type: 'noteTime', params: ({ event }) => event },
            { type: 'noteReport', params: ({ event }) => event },
          ],
        },
      },
      states: CONTAINMENT_REGION,
    },
  },
});

export type SensorActorRef = ActorRefFrom<typeof sensorMachine>;
export type SensorSnapshot = SnapshotFrom<typeof sensorMachine>;
