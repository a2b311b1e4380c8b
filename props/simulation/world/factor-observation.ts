// What people did with second factors and were told.

export type FactorObservation =
  /** A person was told that its second factor is on; that it is to go was asked for. */
  | { readonly kind: 'factor.on'; readonly person: string; readonly asked: number }
  | { readonly kind: 'factor.off_asked'; readonly person: string }
  /** A session that waits for its second factor was shown, without a code. */
  | { readonly kind: 'half.shown'; readonly person: string; readonly isWhole: boolean }
  /** A code that must not count; `takenAtMs` is when the last one was taken. */
  | {
      readonly kind: 'code.shown';
      readonly person: string;
      readonly how: 'wrong' | 'again';
      readonly isTaken: boolean;
      readonly takenAtMs: number;
    };
