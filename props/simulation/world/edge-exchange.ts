// One request and its answer as they pass the Console's edge.

/** One life of a host, who asks. */
export type Asker = { readonly host: string; readonly incarnation: number };

export type EdgeRequest = {
  readonly path: string;
  /** Lower case; absent: post. */
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly certPem: string;
  readonly address: string;
  /** Absent: somebody who is no node. */
  readonly from?: Asker;
};
export type EdgeAnswer = {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
};
