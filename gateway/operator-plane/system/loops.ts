// The resource `loops` of the system: what runs periodically on this Console, which Console is the designated one, and a
// run of one loop on demand, which is audited. decision: D60
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import type { LoopRegistry } from '../../../actors/loops/loop-registry.ts';
import { refuse } from '../../../machines/errors.ts';
import type { AuditLog } from '../../../storage/ports/audit/audit-log.ts';
import type { Designation } from '../../../storage/ports/runtime/designation.ts';
import { withinDeadline } from '../plumbing/deadline.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, refusals, Strict, Time } from '../plumbing/shapes.ts';
import { timeText } from '../plumbing/time-range.ts';
import { LoopShape, loopItem } from './loop-view.ts';

const LoopsAnswer = Type.Object({
  items: Type.Array(LoopShape),
  next_cursor: Type.Null(),
  designation: Type.Object({
    stands: Type.Boolean({
      description: 'False: background tasks are off, and this Console runs no designated loop',
    }),
    is_designated: Type.Boolean(),
    last: Nullable(Type.Object({ holder: Type.String(), epoch: Type.Integer(), since: Time })),
  }),
});
const LoopPath = Strict({ name: Type.String({ pattern: '^[a-z][a-z0-9-]{0,63}$' }) });

export type LoopRoutesDeps = {
  readonly audit: Pick<AuditLog, 'append'>;
  readonly now: () => number;
  readonly loops: LoopRegistry;
  readonly designation: Pick<Designation, 'last'>;
};

/** The routes; `system:read` sees, `system:write` runs. */
export function loopRoutes(deps: LoopRoutesDeps): FastifyPluginAsyncTypebox {
  const { loops, audit, now } = deps;
  return async (app) => {
    app.get('/system/loops', {
      config: { guard: { scope: 'system:read' } },
      schema: {
        operationId: 'listLoops',
        summary: 'Every periodic loop of this Console, and who is designated',
        tags: ['system'],
        response: { 200: LoopsAnswer, ...refusals(401, 403, 429) },
      },
      handler: async () => ({
        items: loops.list().map(loopItem),
        next_cursor: null,
        designation: await designationOf(deps),
      }),
    });

    app.post('/system/loops/:name/run', {
      config: { guard: { scope: 'system:write' } },
      schema: {
        operationId: 'runLoop',
        summary: 'Run a loop now; the answer tells how it ended, or that it still runs',
        tags: ['system'],
        params: LoopPath,
        response: { 200: LoopShape, ...refusals(401, 403, 404, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { name } = request.params;
        const known = loops.get(name);
        if (known === null) {
          return sendRefusal(reply, refuse('not_found', `There is no loop ${name}.`));
        }
        if (known.state !== 'waiting' && known.state !== 'running') {
          const detail = `The loop ${name} runs in the designated Console, which this one is not.`;
          return sendRefusal(reply, refuse('loop_off_duty', detail));
        }
        const { actor } = operatorOf(request);
        const done = {
          atMs: now(),
          actor,
          target: name,
          from: request.ip,
          result: 'ok',
          detail: {},
        };
        await audit.append([{ ...done, action: 'loop.run' }]);
        loops.runNow(name);
        await withinDeadline(loops.idle(name)).catch(() => undefined);
        return loopItem(loops.get(name) ?? known);
      },
    });
  };
}

// The list is answered without the database, too: then nobody knows who is designated.
async function designationOf({ loops, designation }: LoopRoutesDeps) {
  const { stands, epoch } = loops.designation();
  const last = await designation.last().catch(() => null);
  const isKnown = last !== null && last.epoch > 0;
  return {
    stands,
    is_designated: epoch !== null,
    last: isKnown
      ? { holder: last.holder, epoch: last.epoch, since: timeText(last.sinceMs) }
      : null,
  };
}
