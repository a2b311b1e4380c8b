// A change of the root. No Console lets in what a root signed that went; a node that knows no root of the Consoles' says so; and
// where each step came a certificate's lifetime after the one before, and nothing else was wrong, no node is lost. Who changed
// the roots, and how fast, is told by those who did it. invariant: I3; decision: D70, D173
import { STATE_FILES } from '../../../sensor/state-directory/identity.ts';
import { fingerprintOf, issuersIn } from '../world/certificates.ts';
import { type NodeHost, STATE_DIR } from '../world/node-host.ts';
import type { CheckerKind } from './checker.ts';
import { stateOf, statusOf } from './node-files.ts';

const TOLD_WITHIN_MS = 90_000;
/** Consoles start again, streams wait for their turn. */
const BACK_WITHIN_MS = 90_000;

export const rootChange: CheckerKind = {
  name: 'root-change',
  promise:
    'A change of the root loses no node that could renew, and lets in none by the old (D173).',
  make(fleet, report) {
    const { certificates } = fleet.stores.relational.state;
    const { intervals } = fleet;
    let roots = fleet.authority.roots();
    let steppedAtMs: number | null = null;
    /** Since when there was nothing but a change in peace. */
    let peaceSinceMs = 0;
    let isPeace = true;
    const heardAtMs = new Map<string, number>();
    const strangerSinceMs = new Map<string, number>();

    function judge(what: string, fingerprint: string | null): void {
      const known = certificates.get(fingerprint ?? '');
      const [issuer] = known === undefined ? [] : issuersIn(known.row.pem);
      if (issuer !== undefined && !roots.includes(issuer)) {
        report(`${what} by a certificate of ${issuer}, and the roots are ${roots.join(', ')}`);
      }
    }

    function textOf({ disk }: NodeHost, file: string): string {
      return disk.read(`${STATE_DIR}/${file}`)?.toString() ?? '';
    }

    function lookForStranger(node: NodeHost, atMs: number): void {
      const [signing = ''] = roots;
      const kept = issuersIn(textOf(node, STATE_FILES.consoleCa));
      const isStranger = kept.length > 0 && !kept.includes(signing);
      if (!isStranger || !isCalm() || statusOf(node)?.state !== 'running' || !node.isUp()) {
        strangerSinceMs.delete(node.name);
        return;
      }
      const since = strangerSinceMs.get(node.name) ?? atMs;
      strangerSinceMs.set(node.name, since);
      if (atMs - since < TOLD_WITHIN_MS) return;
      if (stateOf(node)?.last_trust_error_at === undefined) {
        report(
          `${node.name} meets a Console it cannot trust for ${atMs - since} ms and says nothing`,
        );
      }
    }

    /** In peace every node is heard again after each step. */
    function lookForLost(atMs: number): void {
      if (!isPeace || steppedAtMs === null || atMs - steppedAtMs < BACK_WITHIN_MS) return;
      const since = steppedAtMs;
      steppedAtMs = null;
      if (peaceSinceMs > since - intervals.CLIENT_CERTIFICATE_TTL_MS) return;
      for (const node of fleet.nodes) {
        const shown = fingerprintOf(textOf(node, STATE_FILES.certificate));
        const sensor = certificates.get(shown)?.sensorId ?? stateOf(node)?.sensor_id;
        if (!node.isUp() || sensor === undefined) continue;
        if ((heardAtMs.get(sensor) ?? 0) < since) {
          report(`${node.name} is not heard for ${atMs - since} ms since the roots were changed`);
        }
      }
    }

    function isCalm(): boolean {
      const isOther = fleet.disturbances().some((kind) => kind !== 'console.new_root');
      return !isOther && fleet.consoles.every((console) => console.running() !== null);
    }

    return {
      observe(seen, atMs) {
        switch (seen.kind) {
          case 'roots.changed': {
            const isSoon = seen.step !== 'prepared' && steppedAtMs !== null;
            if (isSoon) peaceSinceMs = atMs;
            roots = seen.roots;
            steppedAtMs = atMs;
            break;
          }
          case 'request.accepted':
            judge(`${seen.console} accepted ${seen.path}`, seen.fingerprint);
            break;
          case 'stream.opened':
            judge(`${seen.console} opened a stream`, seen.fingerprint);
            break;
          case 'heartbeat.taken': {
            const sensor = certificates.get(seen.fingerprint ?? '')?.sensorId;
            if (sensor !== undefined) heardAtMs.set(sensor, atMs);
            break;
          }
        }
      },
      probe(atMs) {
        const isOther = fleet.disturbances().some((kind) => kind !== 'console.new_root');
        if (isOther) peaceSinceMs = atMs;
        isPeace = !isOther;
        for (const node of fleet.nodes) lookForStranger(node, atMs);
        lookForLost(atMs);
      },
    };
  },
};
