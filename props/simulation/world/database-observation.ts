// What happened to PostgreSQL itself.

export type DatabaseObservation =
  /** It went back: what was committed after that instant of true time is gone. */
  | { readonly kind: 'relational.forgot'; readonly sinceMs: number }
  /** A real one answered a call in another way than the reference one. */
  | {
      readonly kind: 'database.differs';
      readonly call: string;
      readonly real: string;
      readonly model: string;
    };
