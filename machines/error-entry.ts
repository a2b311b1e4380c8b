// One refusal of the catalogue.
export type ErrorEntry = {
  readonly status: number;
  readonly title: string;
  /** What the caller can do about it. */
  readonly action: string;
};
export type ErrorEntries = Readonly<Record<string, ErrorEntry>>;
