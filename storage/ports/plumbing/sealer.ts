// Seals short secrets that have to be read again, so that the database alone betrays none. invariant: I7, I11
export type Sealer = {
  /** Seals a text for one context (whose secret it is); two seals of one text differ. */
  seal(text: string, context: string): string;
  /** The text, or null when it was sealed for another context, under another key, or was changed. */
  open(sealed: string, context: string): string | null;
  /** Whether a text was sealed by the key of today; what was not has to be sealed again before the old key goes. */
  isCurrent(sealed: string): boolean;
};
