// The resource `system`: every actor of every directory, what failed lately, and the definition of every machine.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import { ActorLineShape } from '../fleet/sensor-history.ts';
import type { DirectoryView } from '../plumbing/deps.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, PageQuery, refusals, Strict, Time } from '../plumbing/shapes.ts';
import { timeText } from '../plumbing/time-range.ts';
import { type ActorLine, actorLine, jsonSafe } from './actor-view.ts';
import { machineView } from './machine-view.ts';
import type { SystemRouteDeps } from './system-deps.ts';

const ActorsQuery = Strict({
  kind: Type.Optional(Type.String({ maxLength: 64 })),
  ...PageQuery,
});
export const ActorsAnswer = Type.Object({
  items: Type.Array(Type.Object(ActorLineShape)),
  next_cursor: Nullable(Type.String()),
  counts: Type.Record(Type.String(), Type.Integer()),
  crashes: Type.Array(
    Type.Object({
      kind: Type.String(),
      id: Type.String(),
      at: Time,
      error: Type.String(),
      last_event: Type.String(),
      value: Type.Record(Type.String(), Type.String()),
      decision: Type.Enum(['restart', 'stop']),
      moves: Type.Array(Type.Unknown()),
    }),
  ),
});
const MachinesAnswer = Type.Object({
  items: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  next_cursor: Type.Null(),
});

export function systemRoutes(deps: SystemRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    // Described when somebody asks: a start pays nothing for it.
    let described: readonly ReturnType<typeof machineView>[] | null = null;
    const machines = () => {
      described ??= deps.machines.map(machineView);
      return [...described];
    };

    app.get('/system/actors', {
      config: { guard: { scope: 'system:read' } },
      schema: {
        operationId: 'listActors',
        summary: 'Every actor, by kind and id, and the latest crashes',
        tags: ['system', 'actors'],
        querystring: ActorsQuery,
        response: { 200: ActorsAnswer, ...refusals(401, 403, 422, 429) },
      },
      handler: async (request, reply) => {
        const { kind, limit = PAGE_ITEMS_DEFAULT, cursor } = request.query;
        const filter = { kind };
        const opened = cursor === undefined ? null : deps.cursors.open('actors', filter, cursor);
        if (opened?.ok === false) return sendRefusal(reply, opened);
        const after =
          opened === null
            ? null
            : { kind: String(opened.position['k']), id: String(opened.position['i']) };
        const directories = deps.directories.filter(
          (one) => kind === undefined || one.kind === kind,
        );
        const { items, hasMore } = pageOfActors(directories, after, limit);
        const last = items.at(-1);
        const next = hasMore && last !== undefined;
        const page = pageOf(
          reply,
          items,
          next ? deps.cursors.seal('actors', filter, { k: last.kind, i: last.id }) : null,
        );
        return { ...page, counts: countsOf(deps.directories), crashes: crashesOf(deps) };
      },
    });

    app.get('/system/machines', {
      config: { guard: { scope: 'system:read' } },
      schema: {
        operationId: 'listMachines',
        summary: 'The definition of every machine',
        tags: ['system'],
        response: { 200: MachinesAnswer, ...refusals(401, 403, 429) },
      },
      handler: async () => ({ items: machines(), next_cursor: null }),
    });
  };
}

/** The next actors in order of kind and id: one pass over the ids, never a sorted copy of them all. */
export function pageOfActors(
  directories: readonly DirectoryView[],
  after: { readonly kind: string; readonly id: string } | null,
  limit: number,
): { readonly items: readonly ActorLine[]; readonly hasMore: boolean } {
  const items: ActorLine[] = [];
  const ordered = [...directories].sort((a, b) => (a.kind < b.kind ? -1 : 1));
  for (const directory of ordered) {
    if (after !== null && directory.kind < after.kind) continue;
    const afterId = after?.kind === directory.kind ? after.id : '';
    for (const id of smallestIds(directory.ids(), afterId, limit + 1 - items.length)) {
      const view = directory.ask(id);
      if (view === 'absent') continue;
      if (items.length === limit) return { items, hasMore: true };
      items.push(actorLine(directory.kind, view));
    }
    if (items.length > limit) break;
  }
  return { items, hasMore: false };
}

function smallestIds(ids: Iterable<string>, after: string, count: number): readonly string[] {
  const kept: string[] = [];
  for (const id of ids) {
    if (id <= after) continue;
    const largest = kept.at(-1);
    if (kept.length === count && largest !== undefined && id >= largest) continue;
    const at = kept.findIndex((one) => one > id);
    kept.splice(at === -1 ? kept.length : at, 0, id);
    if (kept.length > count) kept.pop();
  }
  return kept;
}

function countsOf(directories: readonly DirectoryView[]): Record<string, number> {
  return Object.fromEntries(directories.map((one) => [one.kind, one.size()]));
}

function crashesOf(deps: Pick<SystemRouteDeps, 'crashes'>) {
  return deps.crashes.recent().map((crash) => ({
    kind: crash.kind,
    id: crash.id,
    at: timeText(crash.atMs),
    error: crash.error,
    last_event: crash.lastEvent,
    value: { ...crash.stateValue },
    decision: crash.decision,
    moves: jsonSafe(crash.moves) as unknown[],
  }));
}
