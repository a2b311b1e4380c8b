// Rollouts as a directory, so that operators find them beside the other actors. They live in the book; nothing runs between
// two looks. decision: D90
import type { BookService } from '../../../actors/policy/policy-book.ts';
import { snapshotOf } from '../../../machines/console/policy/rollout-step.rules.ts';
import type { DirectoryView } from '../plumbing/deps.ts';

/** The rollouts of a book. */
export function rolloutDirectory(book: Pick<BookService, 'book'>): DirectoryView {
  const rows = () => book.book().rollouts;
  return {
    kind: 'rollout',
    ids: () => rows().keys(),
    size: () => rows().size,
    ask(id) {
      const row = rows().get(id);
      if (row === undefined) return 'absent';
      const lastEvent = `entered ${row.state}`;
      return { id, snapshot: snapshotOf(row), sinceMs: row.movedAtMs, lastEvent, restarts: 0 };
    },
  };
}
