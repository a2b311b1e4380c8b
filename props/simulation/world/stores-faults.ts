// The switches of the simulated stores. A fault plan sets the fields and heals them; every call looks at them anew.

/** Hosts that a fault is about; `*` is every one. */
export type Targets = Set<string>;
export const EVERYBODY = '*';

export type WayFaults = {
  /** The store refuses connections and drops those it has: what is under way is not done. A failover is a short one. */
  readonly away: Targets;
  /** The store says nothing until it is healed; calls end with the time-outs of the product. */
  readonly stall: Targets;
  /** How long every call takes. 0 and 0 = at once, without a step of the scheduler. */
  latencyMs: { readonly least: number; readonly most: number };
  /** How long the word about what was done is on its way: answers come in another order than the commits. */
  answerMs: { readonly least: number; readonly most: number };
  /** Probability that the connection breaks before anything is done. */
  failBefore: number;
  /** Probability that it is done and the connection breaks before the answer. */
  failAfter: number;
  /** Probability that it is done and the answer never comes. */
  silentAfter: number;
  /** Probability that what nobody waits for any more (given up, or its process gone) is done all the same. */
  lateWrite: number;
  /** Which server answers: what was sent to another one is lost with its connection. */
  server: number;
};

export type RelationalFaults = WayFaults & {
  /** Consoles whose notification connection is cut: 'closed' says so, 'silent' does not. `*` is every one. */
  readonly notificationsCut: Map<string, 'closed' | 'silent'>;
  notificationMs: { readonly least: number; readonly most: number };
};

export type AnalyticsFaults = WayFaults & {
  /** Tells which batches the store refuses for their content. */
  refusesContent:
    | ((batch: { readonly sensorId: string; readonly sequence: number }) => boolean)
    | null;
};

const LATE_WRITE = 0.5;

/** No fault. */
export function noWayFaults(): WayFaults {
  return {
    away: new Set(),
    stall: new Set(),
    latencyMs: { least: 0, most: 0 },
    answerMs: { least: 0, most: 0 },
    failBefore: 0,
    failAfter: 0,
    silentAfter: 0,
    lateWrite: LATE_WRITE,
    server: 0,
  };
}

/** Sets every switch back; who was away or stalled comes back by itself. */
export function healWay(faults: WayFaults): void {
  faults.away.clear();
  faults.stall.clear();
  faults.latencyMs = { least: 0, most: 0 };
  faults.answerMs = { least: 0, most: 0 };
  faults.failBefore = 0;
  faults.failAfter = 0;
  faults.silentAfter = 0;
}

/** Whether calls of everybody take time. */
export function takesTime({ latencyMs, answerMs }: WayFaults): boolean {
  return latencyMs.most > 0 || answerMs.most > 0;
}

/** Whether a fault is about this host. */
export function hits(targets: ReadonlySet<string>, host: string): boolean {
  return targets.size > 0 && (targets.has(EVERYBODY) || targets.has(host));
}
