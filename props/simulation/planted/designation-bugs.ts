// Mistakes about who runs what may run once.
import type { PlantedBug } from './planted-bug.ts';
import { CALM, SHORT_LIVES } from './settings.ts';

export const DESIGNATION_BUGS: readonly PlantedBug[] = [
  {
    name: 'everybody-is-designated',
    mistake: 'The lock of the designated Console is taken without asking who holds it.',
    foundBy: 'designation',
    options: { ...CALM, consoles: 2 },
    pinnedSeed: '1',
    console: (_, stores) => ({
      relational: (ports) => ({
        ...ports,
        designation: {
          ...ports.designation,
          stand(request) {
            stores.relational.designation.breakLock();
            return ports.designation.stand(request);
          },
        },
      }),
    }),
  },
  {
    name: 'designated-without-proof',
    mistake:
      'A Console never asks whether its lock is still held, and does not hear that it is lost.',
    foundBy: 'designation',
    options: CALM,
    pinnedSeed: '1',
    console: () => ({
      relational: (ports) => ({
        ...ports,
        designation: {
          ...ports.designation,
          async stand(request) {
            const tenure = await ports.designation.stand({ ...request, onLost: () => undefined });
            return tenure === null ? null : { ...tenure, prove: async () => undefined };
          },
        },
      }),
    }),
  },
  {
    name: 'loops-without-fence',
    mistake: 'A sealer that was overtaken while its database was silent seals all the same.',
    foundBy: 'designation',
    options: { ...CALM, consoles: 2, intervals: SHORT_LIVES, kinds: ['relational.stall'] },
    pinnedSeed: '1',
    console: () => ({
      relational: (ports) => ({
        ...ports,
        auditChain: {
          ...ports.auditChain,
          seal: ({ epoch: _, ...request }) => ports.auditChain.seal(request),
        },
      }),
    }),
  },
];
