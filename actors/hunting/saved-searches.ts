// What people do with saved searches. A name is one search's alone, so that a file of searches can be applied again and
// again. decision: D142, D144
import type { SavedSearch } from '../../machines/console/hunting/saved-search.ts';
import {
  newSavedSearch,
  type SavedSearchStanding,
  savedSearchAfter,
} from '../../machines/console/hunting/saved-search-standing.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { SAVED_SEARCHES_MAX } from '../../machines/limits.ts';
import type { DocumentStore, HuntingDocument } from '../../storage/ports/hunting/document-store.ts';
import type { AuditContext } from '../../storage/ports/plumbing/audit-context.ts';
import type { Chance } from '../trust/chance.ts';
import { questionOfFilter } from './search-filter.ts';

export type SearchContent = Pick<SavedSearch, 'name' | 'filter' | 'watch'>;
export type SearchDocument = HuntingDocument<SavedSearch>;
type Done = { readonly ok: true; readonly search: SearchDocument } | Refusal;

export type SavedSearches = {
  list(): Promise<readonly SearchDocument[]>;
  get(id: string): Promise<SearchDocument | null>;
  create(input: AuditContext & { readonly content: SearchContent }): Promise<Done>;
  /** Another question, threshold or window begins to count anew. */
  change(
    input: AuditContext & {
      readonly id: string;
      readonly revision: number;
      readonly content: Partial<SearchContent>;
    },
  ): Promise<Done>;
  pause(input: AuditContext & { readonly id: string; readonly isPaused: boolean }): Promise<Done>;
  remove(input: AuditContext & { readonly id: string }): Promise<boolean>;
};

/** Makes the service over a store. */
export function createSavedSearches(deps: {
  readonly store: DocumentStore<SavedSearch>;
  readonly chance: Pick<Chance, 'newId'>;
}): SavedSearches {
  const { store, chance } = deps;
  const list = () => store.list({ limit: SAVED_SEARCHES_MAX, before: null });
  const isTaken = async (name: string, but?: string): Promise<boolean> =>
    (await list()).some((one) => one.body.name === name && one.id !== but);
  return {
    list,
    get: (id) => store.get(id),
    async create({ content, ...context }) {
      const refusal = refusalOf(content);
      if (refusal !== null) return refusal;
      if (await isTaken(content.name)) return NAME_TAKEN;
      const id = chance.newId();
      const made = { createdBy: context.actor, version: 1, standing: newSavedSearch };
      const body = { ...content, ...made };
      const added = await store.add({
        ...{ id, body, max: SAVED_SEARCHES_MAX, nowMs: context.nowMs },
        audit: auditOf(context, 'saved_search.create', id, body),
      });
      if (typeof added === 'string') return refuse('documents_full', 'That many are saved.');
      return { ok: true, search: added };
    },
    async change({ id, revision, content, ...context }) {
      if (content.name !== undefined && (await isTaken(content.name, id))) return NAME_TAKEN;
      return rewrite(store, { id, context }, (before) => {
        if (before.version !== revision) return CONFLICT;
        const body = { ...before, ...content };
        const standing = isSameCount(before, body)
          ? body.standing
          : savedSearchAfter(body.standing, { type: 'search.changed' });
        return refusalOf(body) ?? { ...body, standing };
      });
    },
    pause: ({ id, isPaused, ...context }) =>
      rewrite(store, { id, context }, (before) => {
        const type = isPaused ? 'search.paused' : 'search.resumed';
        const standing = savedSearchAfter(before.standing, { type });
        const isMoved = standing !== before.standing;
        return isMoved
          ? { ...before, standing }
          : refuse('state_refuses', `It is ${standing.state}.`);
      }),
    remove: ({ id, ...context }) =>
      store.remove({
        ...{ id, nowMs: context.nowMs },
        audit: { ...entryOf(context, 'saved_search.remove', id), detail: {} },
      }),
  };
}

/** Changes what is there now; the loop that counts writes the same rows, so it is tried again when that came first. */
async function rewrite(
  store: DocumentStore<SavedSearch>,
  { id, context }: { readonly id: string; readonly context: AuditContext },
  make: (before: SavedSearch) => SavedSearch | Refusal,
): Promise<Done> {
  for (let tries = 0; tries < REWRITES_MAX; tries += 1) {
    const before = await store.get(id);
    if (before === null) return NO_SEARCH;
    const made = make(before.body);
    if ('ok' in made) return made;
    const { revision } = before;
    const body = { ...made, version: before.body.version + 1 };
    const entry = auditOf(context, 'saved_search.change', id, body);
    const audit = { ...entry, before: factsOf(before.body) };
    const changed = await store.change({ id, revision, body, nowMs: context.nowMs, audit });
    if (changed === 'not_found') return NO_SEARCH;
    if (changed !== 'conflict') return { ok: true, search: changed };
  }
  return CONFLICT;
}

const REWRITES_MAX = 5;
export const NO_SEARCH = refuse('not_found', 'There is no such saved search.');
const NAME_TAKEN = refuse('search_name_taken', 'Another search has this name.');
const CONFLICT = refuse('document_conflict', 'The search was changed meanwhile.');

function refusalOf({ filter }: Pick<SavedSearch, 'filter'>): Refusal | null {
  const question = questionOfFilter(filter);
  if (question.ok) return null;
  return refuse('schema_violation', 'The condition cannot be read.', {
    errors: [{ pointer: '/filter/q', detail: question.detail }],
  });
}

function isSameCount(before: SavedSearch, after: SavedSearch): boolean {
  const counted = ({ filter, watch }: SavedSearch): string =>
    JSON.stringify([filter, watch?.threshold ?? null, watch?.windowSecs ?? null]);
  return counted(before) === counted(after);
}

function entryOf({ actor, from, nowMs: atMs }: AuditContext, action: Action, target: string) {
  return { atMs, actor, from, action, target, result: 'ok' };
}
type Action = 'saved_search.create' | 'saved_search.change' | 'saved_search.remove';

function auditOf(context: AuditContext, action: Action, target: string, body: SavedSearch) {
  return { ...entryOf(context, action, target), detail: {}, after: factsOf(body) };
}

function factsOf({ name, filter, watch, standing }: SavedSearch) {
  return { name, filter: { ...filter }, watch: watch && { ...watch }, state: stateOf(standing) };
}

/** `telling` is over in a moment and means nothing to people. */
function stateOf({ state }: SavedSearchStanding): string {
  return state === 'telling' ? 'above' : state;
}
