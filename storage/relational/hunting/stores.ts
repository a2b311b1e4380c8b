// The stores of hunting in PostgreSQL.
import type { HuntingStores } from '../../ports/hunting/stores.ts';
import type { RelationalContext } from '../plumbing/context.ts';
import { createDocumentStore } from './document-store.ts';

/** Opens every store of this capability. */
export function openHuntingStores({ db }: RelationalContext): HuntingStores {
  return {
    savedSearches: createDocumentStore(db, 'saved_search'),
    investigations: createDocumentStore(db, 'investigation'),
    investigationItems: createDocumentStore(db, 'investigation_item'),
    exercises: createDocumentStore(db, 'exercise'),
    usualMarks: createDocumentStore(db, 'usual_mark'),
  };
}
