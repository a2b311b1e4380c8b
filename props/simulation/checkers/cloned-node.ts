// Two nodes under one identity. While both run at one Console, both with a certificate that is good, and nothing else is
// wrong, the Console finds out soon and writes it into the audit log, for as long as it lasts; and when the identity is
// revoked, both know it soon and stop. Who copied what, and who revoked it, is told by those who did it. What the two wrote is
// followed where every event is (accounting.ts). Excuses: two Consoles, each of which may hold the stream of one of the two; a
// root that was retired meanwhile.
// invariant: I3; decision: D172
import { STATE_FILES } from '../../../sensor/state-directory/identity.ts';
import { fingerprintOf } from '../world/certificates.ts';
import { type NodeHost, STATE_DIR } from '../world/node-host.ts';
import type { CheckerKind } from './checker.ts';
import { stateOf, statusOf } from './node-files.ts';

/** The longest wait between two tries of a stream, the try, and the loop that tells of it. */
const NOTICED_WITHIN_MS = 100_000;
/** A heartbeat with its deadline. */
const OUT_WITHIN_MS = 90_000;

const ALL = Number.MAX_SAFE_INTEGER;

type Pair = {
  readonly node: NodeHost;
  readonly copy: NodeHost;
  readonly sensor: string;
  /** How often it was noticed, and how often people were told, before they ran side by side. */
  noticed: number;
  told: number;
  /** Since when both run and nothing else is wrong. */
  besideSinceMs: number | null;
  /** Since when it is revoked and nothing else is wrong. */
  revokedSinceMs: number | null;
  /** A root was retired since both got their certificate, so neither may be heard before somebody enrols again. */
  isShutOut: boolean;
};

export const clonedNode: CheckerKind = {
  name: 'cloned-node',
  promise: 'Two nodes under one identity are noticed and told, and a revocation ends both (D172).',
  make(fleet, report) {
    const { relational } = fleet.stores;
    const { sensors, certificates } = relational.state;
    const pairs = new Map<string, Pair>();

    /** How often the Console has told of this sensor. */
    function noticedOf(sensor: string): number {
      const rows = relational.auditEntries();
      return rows.filter((row) => row.result === 'identity_conflict' && row.target === sensor)
        .length;
    }

    /** How often an alert of this sensor has counted it. */
    function toldOf(sensor: string): number {
      const kinds = ['identity_conflict'] as const;
      const rows = relational.inbox.list({ sensorId: sensor, kinds, limit: ALL, before: null });
      return rows.reduce((sum, { count }) => sum + count, 0);
    }

    function isCalm(): boolean {
      if (fleet.disturbances().some((kind) => kind !== 'node.clone')) return false;
      return fleet.consoles.every((console) => console.running() !== null);
    }

    /** Whether it runs with a certificate of this sensor that may be shown. */
    function isAtWork(node: NodeHost, sensor: string): boolean {
      const status = statusOf(node);
      if (!node.isUp() || status?.state !== 'running') return false;
      const shown = node.disk.read(`${STATE_DIR}/${STATE_FILES.certificate}`)?.toString() ?? '';
      const known = certificates.get(fingerprintOf(shown));
      return known?.sensorId === sensor && known.status === 'current';
    }

    function lookBeside(pair: Pair, atMs: number): void {
      const { node, copy, sensor } = pair;
      const isOne = fleet.consoles.length === 1 && sensors.get(sensor)?.revokedAtMs === null;
      if (
        pair.isShutOut ||
        !isOne ||
        !isCalm() ||
        !isAtWork(node, sensor) ||
        !isAtWork(copy, sensor)
      ) {
        pair.besideSinceMs = null;
        return;
      }
      if (pair.besideSinceMs === null) {
        pair.besideSinceMs = atMs;
        pair.noticed = noticedOf(sensor);
        pair.told = toldOf(sensor);
      }
      const forMs = atMs - pair.besideSinceMs;
      if (forMs < NOTICED_WITHIN_MS) return;
      if (noticedOf(sensor) === pair.noticed) {
        report(
          `${node.name} and ${copy.name} are both ${sensor} for ${forMs} ms, and nobody knows`,
        );
      }
      if (toldOf(sensor) === pair.told) {
        report(`${node.name} and ${copy.name} are both ${sensor} for ${forMs} ms without an alert`);
      }
      // As long as it lasts it is told again.
      pair.besideSinceMs = null;
    }

    function lookOut(pair: Pair, atMs: number): void {
      const isRevoked = sensors.get(pair.sensor)?.revokedAtMs !== null;
      if (!isRevoked || pair.isShutOut || !isCalm()) pair.revokedSinceMs = null;
      else pair.revokedSinceMs ??= atMs;
      if (pair.revokedSinceMs === null || atMs - pair.revokedSinceMs < OUT_WITHIN_MS) return;
      for (const host of [pair.node, pair.copy]) {
        const state = stateOf(host);
        if (!host.isUp() || state?.sensor_id !== pair.sensor) continue;
        if (state.trust_state !== 'trust_revoked' && isAtWork(host, pair.sensor)) {
          report(`${host.name} goes on as ${pair.sensor}, which is revoked`);
        }
      }
    }

    return {
      observe(seen) {
        if (seen.kind === 'node.copied') {
          const node = fleet.nodes.find(({ name }) => name === seen.node);
          const copy = fleet.copies.ever().find(({ name }) => name === seen.copy);
          if (node === undefined || copy === undefined) return;
          const begun = {
            noticed: 0,
            told: 0,
            besideSinceMs: null,
            revokedSinceMs: null,
            isShutOut: false,
          };
          pairs.set(seen.copy, { ...begun, node, copy, sensor: seen.sensor });
        }
        if (seen.kind === 'copy.leaves') pairs.delete(seen.copy);
        for (const pair of pairs.values()) {
          if (seen.kind === 'roots.changed' && seen.step === 'retired') pair.isShutOut = true;
          if (seen.kind === 'sensor.enrolled' && seen.sensor === pair.sensor)
            pair.isShutOut = false;
        }
        if (seen.kind !== 'process.started' && seen.kind !== 'process.ended') return;
        for (const pair of pairs.values()) {
          const isConsole = fleet.consoles.some(({ name }) => name === seen.host);
          if (!isConsole && seen.host !== pair.node.name && seen.host !== pair.copy.name) continue;
          pair.besideSinceMs = null;
          pair.revokedSinceMs = null;
        }
      },
      probe(atMs) {
        for (const pair of pairs.values()) {
          lookBeside(pair, atMs);
          lookOut(pair, atMs);
        }
      },
    };
  },
};
