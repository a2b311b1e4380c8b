// What calls of every capability have in common.
import type { Static, TSchema } from 'typebox';

export type Of<S extends TSchema> = Static<S>;
export type Page<T> = { readonly items: readonly T[]; readonly next_cursor: string | null };
export type Paged = { readonly limit?: number; readonly cursor?: string };
export type Span = { readonly from?: string; readonly to?: string };
