// What the routes of policies are given, and the words they share.
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { AssignmentActs } from '../../../actors/policy/assignment-acts.ts';
import type { KeyActs } from '../../../actors/policy/key-acts.ts';
import type { PackActs } from '../../../actors/policy/pack-acts.ts';
import type { BookService } from '../../../actors/policy/policy-book.ts';
import type { WantedPolicies } from '../../../actors/policy/wanted-policies.ts';
import type { Chance } from '../../../actors/trust/chance.ts';
import { PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import { POLICY_FILE_MAX_BYTES } from '../../../machines/policy/limits.ts';
import type { SensorRegistry } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { TeamStore } from '../../../storage/ports/fleet/teams.ts';
import type { AuditContext } from '../../../storage/ports/plumbing/audit-context.ts';
import type { CursorSigner } from '../plumbing/cursor.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { Strict } from '../plumbing/shapes.ts';

export type PolicyRouteDeps = {
  readonly book: BookService;
  readonly packs: PackActs;
  readonly assignments: AssignmentActs;
  readonly keys: KeyActs;
  readonly ownKeyId: () => string | null;
  readonly wanted: Pick<WantedPolicies, 'get' | 'heardOf'>;
  readonly sensors: Pick<SensorRegistry, 'getSensor'>;
  readonly teams: Pick<TeamStore, 'groups'>;
  readonly cursors: CursorSigner;
  readonly chance: Pick<Chance, 'newId'>;
  readonly now: () => number;
};

/** A policy as it is sent to be judged; a name that is none is answered like any other mistake. */
export const PolicyText = Strict({
  name: Type.String({ maxLength: 128 }),
  yaml: Type.String({ maxLength: 2 * POLICY_FILE_MAX_BYTES }),
});

/** Who does it, from where, when. */
export function doingOf(request: FastifyRequest, now: () => number): AuditContext {
  return { actor: operatorOf(request).actor, from: request.ip, nowMs: now() };
}

/** A page of rows that are held whole, in the order of their key. */
export function pageAmong<Row>(
  of: { readonly path: string; readonly cursors: CursorSigner },
  query: { readonly limit?: number; readonly cursor?: string },
  rows: readonly Row[],
  keyOf: (row: Row) => string,
) {
  const { limit = PAGE_ITEMS_DEFAULT, cursor } = query;
  const opened = cursor === undefined ? null : of.cursors.open(of.path, null, cursor);
  if (opened?.ok === false) return opened;
  const after = opened === null ? null : String(opened.position['n']);
  const sorted = [...rows].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const left = sorted.filter((row) => after === null || keyOf(row) > after);
  const items = left.slice(0, limit);
  const last = items.at(-1);
  const isMore = left.length > limit && last !== undefined;
  const next = isMore ? of.cursors.seal(of.path, null, { n: keyOf(last) }) : null;
  return { ok: true as const, items, next };
}
