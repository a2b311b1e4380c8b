// What happened to whole machines, and to the roots that all trust hangs on.

export type RootStep = 'prepared' | 'activated' | 'retired';
export type CopyObservation =
  /** Everything on the node's disk is gone: it is set up anew. */
  | { readonly kind: 'node.wiped'; readonly node: string }
  /** A second machine was made from the image of a node; the sensor is the one whose identity both have. */
  | {
      readonly kind: 'node.copied';
      readonly node: string;
      readonly copy: string;
      readonly sensor: string;
    }
  /** The copy is thrown away next. */
  | { readonly kind: 'copy.leaves'; readonly copy: string }
  /** The Consoles run on these roots from now on, the one that signs first. */
  | {
      readonly kind: 'roots.changed';
      readonly step: RootStep;
      readonly roots: readonly string[];
    };
