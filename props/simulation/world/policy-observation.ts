// What a publisher did with policies and was told, what nodes and Consoles said to each other of packs, and what an engine
// has in force.

/** `sensor:ID`, `group:ID` or `fleet:fleet`. */
export type PolicyTarget = string;
/** Of one policy in force: name, mode and digest. */
export type PolicyInForce = {
  readonly name: string;
  readonly mode: string;
  readonly digest: string;
};
/** A version as its publisher made it and heard that it stands. */
export type PublishedPack = {
  readonly pack: string;
  readonly version: number;
  readonly policies: readonly { readonly name: string; readonly digest: string }[];
  readonly rollbackTo: readonly number[];
  /** The key that signed it. */
  readonly key: string;
};
/** A version, and the mode it is to have. */
export type PackWish = { readonly pack: string; readonly version: number; readonly mode: string };

export type PolicyObservation =
  | { readonly kind: 'pack.published'; readonly published: PublishedPack }
  | { readonly kind: 'pack.asked'; readonly target: PolicyTarget; readonly wish: PackWish }
  | {
      readonly kind: 'rollout.asked';
      readonly target: PolicyTarget;
      readonly wish: PackWish;
      /** Named as the first stage; null: the first stage is a share of the target. */
      readonly canary: readonly string[] | null;
      /** Whether one refusal ends it. */
      readonly isGated: boolean;
    }
  /** People's words: pause, resume, abort. */
  | { readonly kind: 'rollout.said'; readonly rollout: string; readonly word: string }
  /** A rollout moved; told at the commit. */
  | {
      readonly kind: 'rollout.moved';
      readonly rollout: string;
      readonly target: PolicyTarget;
      readonly event: string;
      readonly to: string;
      readonly stage: number;
      /** What its sensors are told. */
      readonly assignment: string;
      readonly pack: string;
      readonly version: number;
    }
  /** Keys that nodes trust, as the publisher was told. */
  | { readonly kind: 'signing_keys.told'; readonly keys: readonly string[] }
  /** The publisher did its last, and was told that this stands. */
  | { readonly kind: 'publisher.settled'; readonly assigned: readonly string[] }
  /** A Console answered a heartbeat with a pack. */
  | {
      readonly kind: 'pack.offered';
      readonly console: string;
      readonly fingerprint: string | null;
      readonly assignment: string;
      readonly wish: PackWish;
    }
  /** A Console took what a node says of its pack. */
  | {
      readonly kind: 'pack.told';
      readonly console: string;
      readonly fingerprint: string | null;
      readonly state: string;
      readonly assignment: string;
      readonly pack: string;
      readonly version: number;
      readonly inForce: { readonly pack: string; readonly version: number } | null;
    }
  /** An engine carries out this set from now on, and nothing else. */
  | {
      readonly kind: 'policies.in_force';
      readonly node: string;
      readonly process: number;
      readonly policies: readonly PolicyInForce[];
    };
