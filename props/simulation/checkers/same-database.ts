// Where a real PostgreSQL answers (`--database postgres`), the reference one stands beside it, and the checkers look at that
// one. What they see is true only as long as both say the same to every call.
import type { CheckerKind } from './checker.ts';

export const sameDatabase: CheckerKind = {
  name: 'same-database',
  promise: 'The SQL of storage/relational does what the reference stores do, call by call.',
  make: (_fleet, report) => ({
    observe(seen) {
      if (seen.kind !== 'database.differs') return;
      report(`${seen.call}: PostgreSQL said ${seen.real}, the reference store ${seen.model}`);
    },
  }),
};
