// The reference stores of hunting's documents, in one place as the real ones share a table. decision: D144
import type { Exercise } from '../../../machines/console/hunting/exercise.ts';
import type {
  Investigation,
  InvestigationItem,
} from '../../../machines/console/hunting/investigation.ts';
import type { SavedSearch } from '../../../machines/console/hunting/saved-search.ts';
import type { UsualMark } from '../../../machines/console/hunting/usual.ts';
import type {
  DocumentStore,
  DocumentWrite,
  HuntingDocument,
} from '../../ports/hunting/document-store.ts';
import type { HuntingStores } from '../../ports/hunting/stores.ts';
import type { MemoryBase } from '../plumbing/base.ts';
import type { Calls, StoreCalls } from '../plumbing/unsafe-port-of.ts';

type Deps = Pick<MemoryBase, 'record' | 'fence'>;
/** As JSON text, which is what a row holds. */
type Kept = Omit<HuntingDocument<unknown>, 'body'> & {
  readonly kind: string;
  readonly text: string;
};
type Rows = Map<string, Kept>;
/** The calls on empty stores. */
export function huntingStores(deps: Deps): StoreCalls<HuntingStores> {
  const rows: Rows = new Map();
  return {
    savedSearches: documentCalls<SavedSearch>(rows, 'saved_search', deps),
    investigations: documentCalls<Investigation>(rows, 'investigation', deps),
    investigationItems: documentCalls<InvestigationItem>(rows, 'investigation_item', deps),
    exercises: documentCalls<Exercise>(rows, 'exercise', deps),
    usualMarks: documentCalls<UsualMark>(rows, 'usual_mark', deps),
  };
}

function documentCalls<Body>(rows: Rows, kind: string, deps: Deps): Calls<DocumentStore<Body>> {
  const written = ({ epoch, audit }: DocumentWrite): void => {
    deps.fence(epoch);
    if (audit !== undefined) deps.record(audit);
  };
  const own = (id: string): Kept | undefined => {
    const row = rows.get(id);
    return row?.kind === kind ? row : undefined;
  };
  const shown = ({ kind: _kind, text, ...row }: Kept): HuntingDocument<Body> => ({
    ...row,
    body: JSON.parse(text) as Body,
  });
  const keep = (row: Kept): HuntingDocument<Body> => {
    rows.set(row.id, row);
    return shown(row);
  };
  const all = (parentId?: string): readonly Kept[] =>
    [...rows.values()].filter(
      (row) => row.kind === kind && (parentId === undefined || row.parentId === parentId),
    );
  return {
    list: ({ parentId, limit, before }) =>
      all(parentId)
        .filter(({ id }) => before === null || id < before)
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, limit)
        .map(shown),
    get(id) {
      const row = own(id);
      return row === undefined ? null : shown(row);
    },
    add(input) {
      const { id, parentId = null, body, max, nowMs } = input;
      deps.fence(input.epoch);
      if (parentId !== null && !rows.has(parentId)) return 'orphan';
      if (all(parentId ?? undefined).length >= max) return 'full';
      written(input);
      const times = { createdAtMs: nowMs, changedAtMs: nowMs, revision: 1 };
      return keep({ kind, id, parentId, text: JSON.stringify(body), ...times });
    },
    change(input) {
      deps.fence(input.epoch);
      const row = own(input.id);
      if (row === undefined) return 'not_found';
      if (row.revision !== input.revision) return 'conflict';
      written(input);
      const { nowMs: changedAtMs } = input;
      const text = JSON.stringify(input.body);
      return keep({ ...row, text, changedAtMs, revision: row.revision + 1 });
    },
    remove(input) {
      deps.fence(input.epoch);
      if (own(input.id) === undefined) return false;
      written(input);
      rows.delete(input.id);
      for (const [id, row] of rows) if (row.parentId === input.id) rows.delete(id);
      return true;
    },
  };
}
