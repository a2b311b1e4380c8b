// How a command ends: exit codes, and one line that says what happened and what to try next.

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notAuthenticated: 4,
  notFound: 5,
  refused: 6,
  unreachable: 7,
  /** The program is to be started again, with what it just wrote. */
  restart: 75,
  timedOut: 124,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command; `problem` is what the Console answered, for `-o json`. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: ExitCode;
  readonly next: string;
  readonly problem: unknown;

  constructor(exitCode: ExitCode, message: string, next = '', problem: unknown = null) {
    super(message);
    this.exitCode = exitCode;
    this.next = next;
    this.problem = problem;
  }
}

/** The exit code of a refused answer. */
export function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.notAuthenticated;
  if (status === 404 || status === 410) return EXIT.notFound;
  if (status === 409) return EXIT.refused;
  if (status === 400 || status === 422) return EXIT.usage;
  return status === 504 ? EXIT.timedOut : EXIT.failed;
}
