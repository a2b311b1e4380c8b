// What was ordered of nodes, and what their Sensors did to the packet filter.

export type ContainmentObservation =
  /** Orders of containment as their author knows them; `act` names one. */
  | {
      readonly kind: 'containment.asked';
      readonly act: number;
      readonly sensor: string;
      readonly wanted: 'contained' | 'released';
      readonly untilMs: number | null;
    }
  | { readonly kind: 'containment.placed' | 'containment.refused'; readonly act: number }
  /** What a Sensor did to the packet filter of its node. */
  | { readonly kind: 'filter.applied' | 'filter.lifted'; readonly node: string };
