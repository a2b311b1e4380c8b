// What is kept of exports, and what is read for them.
import type { ExportSource } from './export-source.ts';
import type { ExportStore } from './export-store.ts';

export type ExportStores = { readonly exports: ExportStore };
/** In the event store. */
export type ExportSources = { readonly exportSource: ExportSource };
