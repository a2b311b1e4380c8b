// A node's private keys are mode 600 whenever one looks, and leave it nowhere: no row of the database holds one. The name
// that a new key is written under before it gets its own is looked at too. invariant: I7
import { STATE_FILES } from '../../../sensor/state-directory/identity.ts';
import { STATE_DIR } from '../world/node-host.ts';
import type { CheckerKind } from './checker.ts';

const KEYS = [STATE_FILES.key, STATE_FILES.previousKey, STATE_FILES.nextKey];
const OWNER_ONLY = 0o600;

export const nodeKeys: CheckerKind = {
  name: 'node-keys',
  promise: 'Private keys are mode 600 and never leave the node that made them (I7).',
  make(fleet, report) {
    function look(): void {
      for (const { name, disk } of fleet.nodes) {
        for (const key of KEYS) {
          const mode = disk.calls.stat(`${STATE_DIR}/${key}`)?.mode;
          if (mode !== undefined && (mode & 0o777) !== OWNER_ONLY) {
            report(`${name}: ${key} has mode ${(mode & 0o777).toString(8)}`);
          }
        }
      }
    }

    return {
      probe: look,
      finish() {
        look();
        const { certificates, sensors } = fleet.stores.relational.state;
        const rows = JSON.stringify([[...certificates.values()], [...sensors.values()]]);
        if (rows.includes('PRIVATE KEY')) report('the database holds a private key');
      },
    };
  },
};
