// What policies did, and would have done had they not only monitored. Engines count from their own start and some begin
// again with a new set of policies, so the sums since this Sensor started are kept here: a count that fell, or whose engine
// is gone, has begun again. invariant: I10

type Counts = Readonly<Record<string, number>>;
export type PolicyCounts = {
  /** The sums with what an engine says now put in the place of what it said before. */
  put(policy: string, counts: Counts): Counts;
  of(policy: string): Counts;
  /** Whoever counted counts from zero now. */
  beginAgain(): void;
  /** Forgets all other policies. */
  keep(policies: ReadonlySet<string>): void;
};
type Sum = { ended: number; now: number };

/** Nothing counted yet. */
export function createPolicyCounts(): PolicyCounts {
  const sums = new Map<string, Map<string, Sum>>();

  function of(policy: string): Counts {
    const own = sums.get(policy) ?? new Map<string, Sum>();
    return Object.fromEntries([...own].map(([name, sum]) => [name, sum.ended + sum.now]));
  }

  return {
    of,
    put(policy, counts) {
      const own = sums.get(policy) ?? new Map<string, Sum>();
      sums.set(policy, own);
      for (const [name, count] of Object.entries(counts)) {
        const sum = own.get(name) ?? { ended: 0, now: 0 };
        if (count < sum.now) sum.ended += sum.now;
        sum.now = count;
        own.set(name, sum);
      }
      return of(policy);
    },
    beginAgain() {
      for (const own of sums.values()) {
        for (const sum of own.values()) {
          sum.ended += sum.now;
          sum.now = 0;
        }
      }
    },
    keep(policies) {
      for (const policy of sums.keys()) if (!policies.has(policy)) sums.delete(policy);
    },
  };
}
