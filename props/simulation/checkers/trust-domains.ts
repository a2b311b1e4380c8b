// The trust domains stay apart, as far as they exist. A token that is made, revoked or left to expire, a person that logs
// in, gets another role or is closed out, changes no sensor and no certificate: nothing about a sensor's identity moves
// between two looks unless an enrollment, a renewal or a revocation of that very sensor was committed. A session or key
// opens nothing of the sensor plane. No excuses.
import type { CheckerKind } from './checker.ts';

/** What somebody without a certificate hears. */
const NOBODY: ReadonlySet<string> = new Set(['client_certificate_required']);

export const trustDomains: CheckerKind = {
  name: 'trust-domains',
  promise:
    'What happens to tokens and people changes nothing about a sensor, and no session or key stands for one.',
  make(fleet, report) {
    const { sensors, certificates } = fleet.stores.relational.state;
    const moved = new Set<string>();
    /** Null before the first look. */
    let before: Map<string, string> | null = null;

    function faces(): Map<string, string> {
      const found = new Map<string, string>();
      for (const { sensorId, revokedAtMs, nodeName } of sensors.values()) {
        found.set(sensorId, `${nodeName} ${revokedAtMs}`);
      }
      for (const { sensorId, row, status, supersededAtMs } of certificates.values()) {
        const face = `${row.fingerprint.slice(0, 16)} ${status} ${supersededAtMs} ${row.notAfterMs}`;
        found.set(sensorId, `${found.get(sensorId) ?? ''} ${face}`);
      }
      return found;
    }

    function look(): void {
      const now = faces();
      for (const [sensorId, face] of now) {
        if (before === null || moved.has(sensorId) || before.get(sensorId) === face) continue;
        report(`${sensorId} changed, and nobody enrolled, renewed or revoked it`);
      }
      for (const sensorId of before?.keys() ?? []) {
        if (!now.has(sensorId)) report(`${sensorId} is gone from the registry`);
      }
      before = now;
      moved.clear();
    }

    return {
      observe(seen) {
        switch (seen.kind) {
          case 'sensor.enrolled':
          case 'sensor.revoked':
          case 'certificate.issued':
          case 'certificate.activated':
            moved.add(seen.sensor);
            break;
          case 'relational.forgot':
            before = null;
            moved.clear();
            break;
          case 'sensor_plane.tried':
            if (seen.code !== null && NOBODY.has(seen.code)) break;
            report(`${seen.console} said ${seen.code} at ${seen.path} to a session or key`);
            break;
        }
      },
      probe: look,
      finish: look,
    };
  },
};
