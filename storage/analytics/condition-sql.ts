// A condition as part of a ClickHouse statement. It agrees with `machines/detection/predicate.ts` on every stored event;
// what a caller wrote is a parameter always and part of the text never. decision: D97
import {
  type Condition,
  type Leaf,
  type Piece,
  WORD_FIELDS,
} from '../../machines/detection/condition.ts';
import { type FieldName, fieldOf } from '../../machines/detection/fields.ts';
import { isAscii } from '../../machines/detection/letters.ts';
import { foldedPieces, foldedValues } from '../../machines/detection/predicate.ts';
import { FIELD_COLUMNS } from './field-columns.ts';

export type ConditionSql = {
  readonly where: string;
  readonly params: Readonly<Record<string, unknown>>;
};
type FieldLeaf = Exclude<Leaf, { is: 'words' }>;
/** Takes a value as a parameter of a type, and gives how the statement names it. */
type Bind = (value: unknown, type: string) => string;

const V4 = '((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])(\\\\.|$)){4}';
/** What is an address: the store's own reader takes more, such as leading zeros and zones. */
const ADDRESS = `(^${V4}$)|(^[0-9a-fA-F:]*:[0-9a-fA-F:]*(:${V4}|)$)`;

/** Compiles a condition; its parameters begin with `prefix`. */
export function conditionSql(condition: Condition, prefix = 'c'): ConditionSql {
  const params: Record<string, unknown> = {};
  let count = 0;
  const bind: Bind = (value, type) => {
    const name = `${prefix}${count}`;
    count += 1;
    params[name] = value;
    return `{${name}: ${type}}`;
  };
  return { where: sqlOf(condition, bind), params };
}

function sqlOf(condition: Condition, bind: Bind): string {
  switch (condition.is) {
    case 'all':
      return `(${condition.of.map((part) => sqlOf(part, bind)).join(' AND ')})`;
    case 'either':
      return `(${condition.of.map((part) => sqlOf(part, bind)).join(' OR ')})`;
    case 'not':
      return `(NOT ${sqlOf(condition.of, bind)})`;
    case 'words': {
      const { text } = condition;
      const parts = WORD_FIELDS.map((field) => leafSql({ is: 'contains', field, text }, bind));
      return `(${parts.join(' OR ')})`;
    }
    default:
      return leafSql(condition, bind);
  }
}

function leafSql(leaf: FieldLeaf, bind: Bind): string {
  const { present, value, each } = FIELD_COLUMNS[leaf.field];
  if (each !== undefined) {
    const test = leaf.is === 'present' ? '1' : valueSql(leaf, `assumeNotNull(x)`, bind);
    return `arrayExists(x -> isNotNull(x) AND ${test}, ${each})`;
  }
  const test = leaf.is === 'present' ? '1' : valueSql(leaf, value, bind);
  return present === null ? `(${test})` : `(${present} AND ${test})`;
}

function valueSql(leaf: Exclude<FieldLeaf, { is: 'present' }>, column: string, bind: Bind): string {
  const { folds } = fieldOf(leaf.field);
  const folded = folds === true ? `lower(${column})` : column;
  switch (leaf.is) {
    case 'among': {
      const values = foldedValues(leaf.field, leaf.values);
      return `${folded} IN ${bind([...values], `Array(${typeOf(leaf.field)})`)}`;
    }
    case 'like':
      return likeSql(foldedPieces(leaf.field, leaf.pieces), folded, bind);
    case 'contains':
      return containsSql(leaf.text, column, bind);
    case 'pattern':
      // Here `.` is a line end too unless it is told otherwise.
      return `match(${column}, concat('(?-s)', ${bind(leaf.source, 'String')}))`;
    case 'compare':
      return `${column} ${leaf.op} ${bind(leaf.value, typeOf(leaf.field))}`;
    case 'network':
      return `(match(${column}, '${ADDRESS}') AND
        ifNull(hex(IPv6StringToNumOrNull(${column})) BETWEEN ${bind(leaf.first.toUpperCase(), 'String')}
          AND ${bind(leaf.last.toUpperCase(), 'String')}, 0))`;
  }
}

function typeOf(field: FieldName): string {
  const { kind } = fieldOf(field);
  if (kind === 'integer') return 'UInt64';
  return kind === 'decimal' ? 'Float64' : 'String';
}

function likeSql(pieces: readonly Piece[], column: string, bind: Bind): string {
  const pattern = pieces.map((piece) => {
    if (piece.is === 'text') return piece.text.replaceAll(/[\\%_]/g, '\\$&');
    return piece.is === 'any' ? '%' : '_';
  });
  return `${column} LIKE ${bind(pattern.join(''), 'String')}`;
}

function containsSql(text: string, column: string, bind: Bind): string {
  if (isAscii(text)) return `positionCaseInsensitive(${column}, ${bind(text, 'String')}) > 0`;
  const source = text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return `match(${column}, concat('(?i)', ${bind(source, 'String')}))`;
}
