// One request and its answer as they pass the Console's edge.
export type EdgeRequest = {
  readonly path: string;
  /** Lower case; absent: post. */
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly certPem: string;
  readonly address: string;
};
export type EdgeAnswer = {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
};
