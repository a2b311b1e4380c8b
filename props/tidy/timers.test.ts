// Periodic work of the Console is a loop of the registry, where operators see it. What else may hold a timer is a call that
// must end, a try after a failure, work that waits to be gathered, a turn for others, or a peer that is kept waiting.
// decision: D60
import { describe, expect, it } from 'vitest';
import { codeOf, filesLike, textOf } from './files.ts';

const DEADLINE = 'ends a call, or a process, that takes too long';
const RETRY = 'waits after a failure, and for nothing else';
const GATHERS = 'runs only while something waits to be written or sent';
const PEER = 'belongs to one connection and ends with it';
const CLOCK = 'is the clock, and keeps no time of its own';
const TURN = 'lets the event loop have its turn in the midst of long work, and takes no time';
const PROGRAM = 'belongs to the command line or a process beside the Console';

/** Who may hold a timer, and why it is no loop. */
const OUTSIDE_THE_REGISTRY: Readonly<Record<string, string>> = {
  'actors/access/refused-credentials.ts': GATHERS,
  'actors/detection/backtest.ts': TURN,
  'actors/fleet/identity-follower.ts': RETRY,
  'actors/loops/glance.ts': CLOCK,
  'actors/loops/loop-registry.ts': DEADLINE,
  'actors/runtime/clock-watch.ts': 'is the watch of a Sensor; in a Console a loop looks',
  'actors/runtime/running-timers.ts': CLOCK,
  'actors/runtime/wheel-clock.ts': CLOCK,
  'actors/trust/retries.ts': RETRY,
  'gateway/access/seen-batch.ts': GATHERS,
  'gateway/cli/plumbing/command-run.ts': PROGRAM,
  'gateway/cli/service-console.ts': PROGRAM,
  'gateway/cli/start/local-sensor.ts': PROGRAM,
  'gateway/cli/start/local-sight.ts': PROGRAM,
  'gateway/cli/start/serve-setup.ts': PROGRAM,
  'gateway/cli/telemetry/event-follow.ts': PEER,
  'gateway/live/live-hub.ts': GATHERS,
  'gateway/operator-plane/plumbing/deadline.ts': DEADLINE,
  'gateway/process/sensor-packages.ts': DEADLINE,
  'gateway/process/time.ts': CLOCK,
  'gateway/sensor-plane/admission.ts': DEADLINE,
  'gateway/sensor-plane/stream-connection.ts': PEER,
  'gateway/sensor-plane/stream-hub.ts': PEER,
  'gateway/start-timer.ts': DEADLINE,
  'storage/analytics/direct-sink.ts': RETRY,
  'storage/embedded/chdb-server.ts': PROGRAM,
  'storage/embedded/clickhouse.ts': PROGRAM,
  'storage/embedded/postgres-orphan.ts': PROGRAM,
  'storage/embedded/postgres.ts': PROGRAM,
  'storage/embedded/process-identity.ts': PROGRAM,
  'storage/limits/redis-counter.ts': DEADLINE,
  'storage/ports/plumbing/clock.ts': CLOCK,
  'storage/ports/plumbing/group-commit.ts': GATHERS,
  'storage/relational/relational.ts': DEADLINE,
  'storage/relational/runtime/designation.ts': DEADLINE,
  'storage/relational/trust/identity-watch.ts': PEER,
};

const ARMS = /\bsetTimeout\s*[(:]|\bsetInterval\b|\btimers\/promises\b|\bscheduler\.wait\b/;

describe('timers of the Console', () => {
  const armed = filesLike(/^(actors|gateway|storage)\/.*\.(ts|js)$/)
    .filter((path) => !/\.(test|fixture)\.ts$/.test(path) && !path.startsWith('gateway/web/'))
    // The names of modules are strings, which `codeOf` leaves out.
    .filter((path) => ARMS.test(codeOf(path)) || /'node:timers/.test(textOf(path)));

  it('should belong to the registry of loops, but for a list with reasons', () => {
    expect(armed.filter((path) => OUTSIDE_THE_REGISTRY[path] === undefined)).toEqual([]);
    expect(Object.keys(OUTSIDE_THE_REGISTRY).filter((path) => !armed.includes(path))).toEqual([]);
  });

  it('should never repeat by themselves', () => {
    const repeated = armed.filter((path) => /\bsetInterval\b/.test(codeOf(path)));
    expect(repeated).toEqual(['storage/embedded/process-identity.ts']);
  });
});
