// Mistakes of those who seal the audit trail.
import type { PlantedBug } from './planted-bug.ts';
import { CALM, SHORT_LIVES } from './settings.ts';

const RENEWING = { ...CALM, intervals: SHORT_LIVES } as const;

export const AUDIT_BUGS: readonly PlantedBug[] = [
  {
    name: 'hash-without-detail',
    mistake: 'The hash of an audit row leaves out what was changed.',
    foundBy: 'audit-chain',
    options: RENEWING,
    pinnedSeed: '1',
    console: () => ({
      relational: (ports) => ({
        ...ports,
        auditChain: {
          ...ports.auditChain,
          seal: ({ hashOf, ...request }) =>
            ports.auditChain.seal({
              ...request,
              hashOf: (row, place) => hashOf({ ...row, before: null, after: null }, place),
            }),
        },
      }),
    }),
  },
  {
    name: 'sealer-remembers-the-head',
    mistake:
      'A sealer goes on from the last hash it made itself, though another Console sealed since.',
    foundBy: 'audit-chain',
    options: { ...RENEWING, consoles: 2, kinds: ['console.kill'] },
    pinnedSeed: '1',
    console() {
      let last: string | null = null;
      return {
        relational: (ports) => ({
          ...ports,
          auditChain: {
            ...ports.auditChain,
            seal: ({ hashOf, ...request }) =>
              ports.auditChain.seal({
                ...request,
                hashOf(row, place) {
                  last = hashOf(row, { ...place, hash: last ?? place.hash });
                  return last;
                },
              }),
          },
        }),
      };
    },
  },
  {
    name: 'sealers-side-by-side',
    mistake: 'A sealer does not wait for its transaction, whose lock is let go before it is over.',
    foundBy: 'audit-chain',
    options: { ...RENEWING, consoles: 2, kinds: ['relational.slow'] },
    pinnedSeed: '1',
    console: (_, stores) => ({
      relational: (ports) => ({
        ...ports,
        auditChain: {
          ...ports.auditChain,
          seal(request) {
            const first = ports.auditChain.seal(request);
            stores.relational.breakSealerLock();
            const second = ports.auditChain.seal(request);
            return Promise.race([first, second]);
          },
        },
      }),
    }),
  },
  {
    name: 'sealer-gives-up',
    mistake: 'The sealer asks nothing more after a failure.',
    foundBy: 'liveness',
    options: { ...RENEWING, kinds: ['relational.unsure'], faultsPerHour: 60 },
    pinnedSeed: '1',
    console() {
      let failures = 0;
      return {
        relational: (ports) => ({
          ...ports,
          auditChain: {
            ...ports.auditChain,
            async seal(request) {
              if (failures > 0) return { isBusy: true };
              failures += 1;
              const outcome = await ports.auditChain.seal(request);
              failures -= 1;
              return outcome;
            },
          },
        }),
      };
    },
  },
];
