// Sensors that do not have what they are to have, with what they say of it; and the starter library. decision: D83, D126
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { regionOf } from '../../../machines/console/policy/wanted.rules.ts';
import { PackVersion, PolicyMode } from '../../../machines/wire/policy.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import { readLibrary } from '../../policy-library/read-library.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, PageOf, PageQuery, refusals, Strict } from '../plumbing/shapes.ts';
import { type PolicyRouteDeps, pageAmong } from './policy-deps.ts';

const Held = Type.Object({ pack_id: Uuid, version: PackVersion });
const Drift = Type.Object({
  sensor_id: Uuid,
  node_name: Nullable(Type.String()),
  state: Type.Enum(['pending', 'rejected', 'failed', 'differs']),
  wanted: Nullable(
    Type.Object({
      pack_id: Uuid,
      pack_name: Type.String(),
      version: PackVersion,
      mode: PolicyMode,
    }),
  ),
  in_force: Nullable(Held),
  code: Nullable(Type.String()),
  reason: Nullable(Type.String({ description: 'of the node, why it refuses or fails' })),
});
const LibraryPolicy = Type.Object({
  name: Type.String(),
  technique: Type.String({ description: 'of ATT&CK' }),
  why: Type.String(),
  yaml: Type.String(),
});
export type DriftView = Type.Static<typeof Drift>;
export type LibraryView = Type.Static<typeof LibraryPolicy>;
type Deps = PolicyRouteDeps & { readonly sensorIds: () => Iterable<string> };
const reading = { config: { guard: { scope: 'policies:read' as const } } };

export function driftRoutes(deps: Deps): FastifyPluginAsyncTypebox {
  const { cursors, sensors } = deps;
  let library: ReturnType<typeof readLibrary> | null = null;
  return async (app) => {
    app.get('/policies/drift', {
      ...reading,
      schema: {
        operationId: 'listPolicyDrift',
        summary: 'Sensors that do not have what they are to have',
        tags: ['policies'],
        querystring: Strict(PageQuery),
        response: { 200: PageOf(Drift), ...refusals(401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const rows = [...deps.sensorIds()].flatMap((id) => driftOf(deps, id) ?? []);
        const page = pageAmong({ path: 'drift', cursors }, request.query, rows, (one) => one.id);
        if (!page.ok) return sendRefusal(reply, page);
        const items = await Promise.all(
          page.items.map(async ({ id, view }) => ({
            ...view,
            node_name: (await sensors.getSensor(id))?.nodeName ?? null,
          })),
        );
        return pageOf(reply, items, page.next);
      },
    });

    app.get('/policies/library', {
      ...reading,
      schema: {
        operationId: 'listLibraryPolicies',
        summary: 'Policies to start with',
        tags: ['policies'],
        response: {
          200: Type.Object({ items: Type.Array(LibraryPolicy) }),
          ...refusals(401, 403, 429),
        },
      },
      handler: async () => {
        // The files come with the program and do not change while it runs.
        library ??= readLibrary();
        return { items: [...(await library)] };
      },
    });
  };
}

/** Null where what is reported is what is wanted. */
function driftOf(
  { wanted: policies, book }: Pick<Deps, 'wanted' | 'book'>,
  id: string,
): { readonly id: string; readonly view: DriftView } | null {
  const { wanted, report } = policies.get(id);
  const { pack, enforcement, custom } = wanted;
  const region = regionOf(wanted, report);
  const isLeft = pack === null && report?.in_force !== undefined;
  const isOther =
    (report?.enforcement_revision ?? 0) !== enforcement.revision ||
    (report?.custom_revision ?? 0) !== custom.revision;
  const isSettled = region === 'in_force' || region === 'unassigned';
  if (isSettled && !isLeft && !isOther) return null;
  const state = isSettled ? 'differs' : region;
  const held = report?.in_force;
  const view: DriftView = {
    ...{ sensor_id: id, node_name: null, state },
    wanted:
      pack === null
        ? null
        : {
            ...{ pack_id: pack.pack_id, version: pack.version, mode: pack.mode },
            pack_name: book.book().packs.get(pack.pack_id)?.name ?? '',
          },
    in_force: held === undefined ? null : { pack_id: held.pack_id, version: held.version },
    ...{ code: report?.code ?? null, reason: report?.reason ?? null },
  };
  return { id, view };
}
