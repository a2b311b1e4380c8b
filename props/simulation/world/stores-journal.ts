// What a database did, call by call, so that it can go back to an earlier instant as a replica that was behind does: it is
// made anew from nothing by the calls that it still knows. A call runs to its end at once, which is what a transaction
// promises, and asks nothing but the database, its arguments and the database's clock.

type Step<Database> = { readonly atMs: number; readonly run: (database: Database) => unknown };

export type Journal<Database> = {
  /** The database that answers now. */
  current(): Database;
  /** The clock of the database: while it is made anew, that of the call. */
  now(): number;
  /** Whether it is made anew, so that nobody is to be told. */
  isReplaying(): boolean;
  /** A call on whichever database answers, kept for later. */
  run<Answer>(step: (database: Database) => Answer): Answer;
  /** The same calls, each on whichever database answers then. */
  routed<Calls extends object>(pick: (database: Database) => Calls): Calls;
  /** As `routed`, for who only looks: nothing of it is kept. */
  seen<Calls extends object>(pick: (database: Database) => Calls): Calls;
  /** Forgets every call after the instant. */
  goBack(toMs: number): void;
};

/** Begins with an empty database; `keeps`: whether it will ever go back. */
export function createJournal<Database>(of: {
  readonly make: () => Database;
  readonly now: () => number;
  readonly keeps: boolean;
}): Journal<Database> {
  let kept: Step<Database>[] = [];
  let replayedMs: number | null = null;
  let database = of.make();

  function run<Answer>(step: (on: Database) => Answer): Answer {
    if (of.keeps && replayedMs === null) kept.push({ atMs: of.now(), run: step });
    return step(database);
  }

  function routes<Calls extends object>(
    pick: (on: Database) => Calls,
    how: <Answer>(step: (on: Database) => Answer) => Answer,
  ): Calls {
    const made: Record<string, unknown> = {};
    for (const [name, call] of Object.entries(pick(database))) {
      const own = (on: Database): unknown => (pick(on) as Record<string, unknown>)[name];
      made[name] =
        typeof call === 'function'
          ? (...args: readonly unknown[]) =>
              how((on) => (own(on) as (...args: readonly unknown[]) => unknown)(...args))
          : routes((on) => own(on) as object, how);
    }
    return made as Calls;
  }

  return {
    current: () => database,
    now: () => replayedMs ?? of.now(),
    isReplaying: () => replayedMs !== null,
    run,
    routed: (pick) => routes(pick, run),
    seen: (pick) => routes(pick, (step) => step(database)),
    goBack(toMs) {
      if (!of.keeps) throw new Error('this database keeps no journal');
      kept = kept.filter(({ atMs }) => atMs <= toMs);
      replayedMs = 0;
      database = of.make();
      for (const step of kept) {
        replayedMs = step.atMs;
        try {
          step.run(database);
        } catch {
          // It was refused then, too.
        }
      }
      replayedMs = null;
    },
  };
}
