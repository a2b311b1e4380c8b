// What a condition says about an event, as a tree: the one meaning that the predicate and the event store's query share.
// decision: D97
import type { FieldName } from './fields.ts';

/** A piece of a text with wildcards: any characters, exactly one, or these. */
export type Piece = { readonly is: 'any' } | { readonly is: 'one' } | Literal;
type Literal = { readonly is: 'text'; readonly text: string };

export type Comparison = '<' | '<=' | '>' | '>=';

/** One comparison. A field that an event lacks satisfies none of them. */
export type Leaf =
  /** The field is there. */
  | { readonly is: 'present'; readonly field: FieldName }
  /** The field is exactly one of these; texts where it holds texts, numbers where it holds numbers. */
  | {
      readonly is: 'among';
      readonly field: FieldName;
      readonly values: readonly (string | number)[];
    }
  /** The whole field fits the pieces. */
  | { readonly is: 'like'; readonly field: FieldName; readonly pieces: readonly Piece[] }
  /** The field contains this text, whatever the case of its letters. */
  | { readonly is: 'contains'; readonly field: FieldName; readonly text: string }
  /** A part of the field fits the pattern (RE2). */
  | { readonly is: 'pattern'; readonly field: FieldName; readonly source: string }
  | {
      readonly is: 'compare';
      readonly field: FieldName;
      readonly op: Comparison;
      readonly value: number;
    }
  /** The field is an address in the network, as written and as its first and last address. */
  | {
      readonly is: 'network';
      readonly field: FieldName;
      readonly source: string;
      readonly first: string;
      readonly last: string;
    }
  /** One of the fields that people read contains this text, whatever the case of its letters. */
  | { readonly is: 'words'; readonly text: string };

export type Condition =
  | Leaf
  | { readonly is: 'all'; readonly of: readonly Condition[] }
  | { readonly is: 'either'; readonly of: readonly Condition[] }
  | { readonly is: 'not'; readonly of: Condition };

/** Where free text looks. */
export const WORD_FIELDS = [
  'message',
  'process.binary',
  'process.arguments',
  'file.path',
  'network.domain',
] as const satisfies readonly FieldName[];
