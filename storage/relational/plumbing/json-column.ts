// A column of JSON.
import type { ColumnType } from 'kysely';

/** Read as a value, written as JSON text: a bare array would become a PostgreSQL array. */
export type Json<T> = ColumnType<T, string, string>;
