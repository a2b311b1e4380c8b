// A node waits for a token only while its certificate is over by its own clock: what a Console says of it, whose clock may be
// wrong, ends nothing, and a clock that is right again lets it go on. decision: D67; invariant: I12

import { STATE_FILES } from '../../../sensor/state-directory/identity.ts';
import { readCertificate } from '../world/certificates.ts';
import { type NodeHost, STATE_DIR } from '../world/node-host.ts';
import type { CheckerKind } from './checker.ts';
import { statusOf } from './node-files.ts';

/** It looks at its clock every few seconds, and tells its state as often. */
const LOOKS_MAX = 4;
/** On a disk that fails neither the certificate nor the state is what the Sensor has in mind. */
const HINDERS = /^(?:disk|node)\./;

export const ownClock: CheckerKind = {
  name: 'own-clock',
  promise: 'A node waits for a token only while its certificate is over by its own clock (I12).',
  make(fleet, report) {
    const looks = new Map<string, number>();
    return {
      probe() {
        const isHindered = fleet.disturbances().some((kind) => HINDERS.test(kind));
        for (const node of fleet.nodes) {
          const count = isHindered || !waitsInVain(node) ? 0 : (looks.get(node.name) ?? 0) + 1;
          looks.set(node.name, count);
          if (count >= LOOKS_MAX) {
            report(`${node.name} waits for a token, and by its clock its certificate is valid`);
          }
        }
      },
    };
  },
};

/** True while nobody has given it a token. */
function waitsInVain(node: NodeHost): boolean {
  const state = node.isUp() ? statusOf(node)?.actors?.['node'] : undefined;
  if (typeof state !== 'object' || state === null) return false;
  const at = (state as Readonly<Record<string, unknown>>)['awaiting_reenrollment'];
  if (at !== 'looking' && at !== 'sleeping') return false;
  const pem = node.disk.read(`${STATE_DIR}/${STATE_FILES.certificate}`)?.toString();
  const certificate = readCertificate(pem ?? '');
  return certificate !== null && node.clock.wallNow() < certificate.notAfterMs;
}
