// How many nodes the license allows for new identities. Enrolled sensors are never asked. invariant: I16
export type LicenseGate = {
  /** Null = no limit now. */
  nodesAllowed(nowMs: number): number | null;
};
