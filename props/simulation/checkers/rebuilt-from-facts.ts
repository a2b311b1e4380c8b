// A Console that starts again has the states that the facts determine: revoked sensors are revoked, the certificate in
// force decides the rest, every sensor of the registry has its actor, and the engine is as the last stored report said.
// It is judged once, at the first look at a new life. Excuses: a Console reads the facts while it starts, so what changed
// since is left out: a sensor that enrolled, renewed, was revoked or was heard in that time; and one that was told to end
// before that look has let its actors go. decision: D4
import type { EngineReport } from '../../../machines/wire/heartbeat.ts';
import type { ConsoleHost, RunningConsole } from '../world/console-host.ts';
import type { CheckerKind } from './checker.ts';

export const rebuiltFromFacts: CheckerKind = {
  name: 'rebuilt-from-facts',
  promise: 'An actor that is built again has the states that the facts determine (D4).',
  make(fleet, report) {
    const { sensors, certificates } = fleet.stores.relational.state;
    const judged = new WeakSet<RunningConsole>();
    /** When something was last told of a sensor, and when a Console's life began. */
    const touched = new Map<string, number>();
    const begun = new Map<string, number>();
    /** When the facts went back: a Console that had read them knows the later ones. */
    let forgotMs = Number.NEGATIVE_INFINITY;

    function sensorOf(fingerprint: string | null): string {
      return certificates.get(fingerprint ?? '')?.sensorId ?? '';
    }

    function look(host: ConsoleHost, console: RunningConsole): void {
      const sinceMs = begun.get(host.name) ?? 0;
      if (forgotMs >= sinceMs) return;
      for (const row of sensors.values()) {
        const { sensorId } = row;
        if ((touched.get(sensorId) ?? 0) >= sinceMs) continue;
        const view = console.fleet.directory.ask(sensorId);
        if (view === 'absent') {
          report(`${host.name} started without an actor for ${sensorId}`);
          continue;
        }
        const { trust, engine } = view.snapshot.value;
        if ((trust === 'revoked') !== (row.revokedAtMs !== null)) {
          report(`${host.name} started ${sensorId} as ${trust}, and the facts say otherwise`);
        }
        const { state, disabled_hooks = [] } = (row.facts?.engine ?? {}) as Partial<EngineReport>;
        const lacks = disabled_hooks.some(({ missing }) => missing === true);
        const runs = lacks ? 'degraded' : 'running';
        const expected = state === undefined ? null : state === 'running' ? runs : 'down';
        // Without a report the machine begins with what it begins with; a report decides.
        if (view.snapshot.context.lastHeartbeatAtMs === row.lastHeartbeatAtMs) {
          judgeEngine(host.name, sensorId, engine, expected);
        }
      }
    }

    function judgeEngine(
      host: string,
      sensorId: string,
      engine: string,
      expected: string | null,
    ): void {
      if (engine === 'unknown' || expected === null || engine === expected) return;
      report(
        `${host} started the engine of ${sensorId} as ${engine}, and the facts say ${expected}`,
      );
    }

    return {
      observe(seen, atMs) {
        switch (seen.kind) {
          case 'process.started':
            begun.set(seen.host, atMs);
            break;
          case 'relational.forgot':
            forgotMs = atMs;
            break;
          case 'sensor.enrolled':
          case 'sensor.revoked':
          case 'certificate.activated':
            touched.set(seen.sensor, atMs);
            break;
          case 'heartbeat.taken':
          case 'request.accepted':
          case 'stream.opened':
            touched.set(sensorOf(seen.fingerprint), atMs);
            break;
        }
      },
      probe() {
        for (const host of fleet.consoles) {
          const console = host.running();
          if (console === null || judged.has(console)) continue;
          judged.add(console);
          if (!host.isStopping()) look(host, console);
        }
      },
    };
  },
};
