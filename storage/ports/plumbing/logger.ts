// What the stores need of a log: fixed text plus fields, never a secret. Either program's logger satisfies it.
type LogMethod = {
  (fields: Readonly<Record<string, unknown>>, text: string): void;
  (text: string): void;
};

export type Logger = {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
};
