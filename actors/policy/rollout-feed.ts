// Tells the inspection feed what moved each rollout, as the book shows it: by this Console or another.
import type { RolloutRow } from '../../machines/console/policy/book.rules.ts';
import type { InspectionFeed } from '../runtime/inspection-feed.ts';
import type { BookService } from './policy-book.ts';

/** Follows until the returned function is called. */
export function followRollouts(deps: {
  readonly book: Pick<BookService, 'book' | 'subscribe'>;
  readonly feed: Pick<InspectionFeed, 'record' | 'forget'>;
}): () => void {
  const { book, feed } = deps;
  let known = new Map(book.book().rollouts);

  return book.subscribe(() => {
    const before = known;
    known = new Map(book.book().rollouts);
    for (const [id, row] of known) {
      const old = before.get(id);
      if (old?.sequence !== row.sequence) tell(row, old);
    }
    for (const id of before.keys()) if (!known.has(id)) feed.forget('rollout', id);
  });

  function tell(row: RolloutRow, old: RolloutRow | undefined): void {
    const { stage, failed } = row.context;
    feed.record({
      ...{ kind: 'rollout', id: row.rolloutId, region: '', from: old?.state ?? '', to: row.state },
      ...{ event: 'rollout.moved', facts: { stage, failed, sequence: row.sequence } },
      ...{ atMs: row.movedAtMs, after: { value: row.state, context: row.context, timers: [] } },
    });
  }
}
