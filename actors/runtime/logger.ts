// The logging port of both programs: fixed text plus fields, never a secret. pino satisfies it.
type LogMethod = {
  (fields: Readonly<Record<string, unknown>>, text: string): void;
  (text: string): void;
};

export type Logger = {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
  child(fields: Readonly<Record<string, unknown>>): Logger;
};
