// What is kept of hunting.
import type { Exercise } from '../../../machines/console/hunting/exercise.ts';
import type {
  Investigation,
  InvestigationItem,
} from '../../../machines/console/hunting/investigation.ts';
import type { SavedSearch } from '../../../machines/console/hunting/saved-search.ts';
import type { UsualMark } from '../../../machines/console/hunting/usual.ts';
import type { DocumentStore } from './document-store.ts';

export type HuntingStores = {
  readonly savedSearches: DocumentStore<SavedSearch>;
  readonly investigations: DocumentStore<Investigation>;
  readonly investigationItems: DocumentStore<InvestigationItem>;
  readonly exercises: DocumentStore<Exercise>;
  readonly usualMarks: DocumentStore<UsualMark>;
};
