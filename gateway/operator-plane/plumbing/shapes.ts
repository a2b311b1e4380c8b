// Schemas that several resources share. Request schemas refuse unknown fields; only query and path are coerced.
import Type, { type TProperties, type TSchema } from 'typebox';
import { PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX } from '../../../machines/limits.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';

/** An object of exactly these fields. */
export function Strict<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: PAGE_ITEMS_MAX, default: PAGE_ITEMS_DEFAULT }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: 2_048, description: 'next_cursor of the page before' }),
  ),
};

/** `{items, next_cursor}`. */
export function PageOf<S extends TSchema>(item: S) {
  return Type.Object({ items: Type.Array(item), next_cursor: Nullable(Type.String()) });
}

export function Nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()]);
}

export const Time = Type.String({ format: 'date-time' });
export const SensorPath = Strict({ id: Uuid });

export const Problem = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: Type.String(),
    request_id: Type.String(),
    errors: Type.Optional(
      Type.Array(Type.Object({ pointer: Type.String(), detail: Type.String() })),
    ),
  },
  { description: 'RFC 9457 problem' },
);

/** The refusals of a route, for the API description. */
export function refusals(...statuses: readonly number[]): Record<string, unknown> {
  const problem = {
    description: 'Refused; see `code`.',
    content: { 'application/problem+json': { schema: Problem } },
  };
  return Object.fromEntries([...statuses, 'default'].map((status) => [String(status), problem]));
}
