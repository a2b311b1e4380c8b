// A document as plain data whose every node knows where it stands, so that a refusal can name the field, line and column.
// Each program reads YAML into this with a library of its own; what judges it is one. decision: D80

/** `engine_cannot`: the language has it, the `ebpf` engine does not. Anything else is `invalid` for every engine. */
export type RefusalCode = 'invalid' | 'engine_cannot';
/** Why a policy is not taken: the field's path from the document's root and its place in the text. */
export type PolicyRefusal = {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly reason: string;
  readonly code: RefusalCode;
};
export type Place = Pick<PolicyRefusal, 'path' | 'line' | 'column'>;
export type Located = Place &
  (
    | { readonly kind: 'scalar'; readonly value: unknown; readonly source: string }
    | { readonly kind: 'list'; readonly items: readonly Located[] }
    | { readonly kind: 'map'; readonly entries: ReadonlyMap<string, Located> }
  );
export type LocatedResult =
  | { readonly ok: true; readonly root: Located }
  | { readonly ok: false; readonly refusals: readonly PolicyRefusal[] };

/** One line for people: what is refused, and where. */
export function sentenceOfRefusal({ path, line, column, reason }: PolicyRefusal): string {
  return `${path === '' ? '' : `${path}: `}${reason} (line ${line}, column ${column})`;
}
