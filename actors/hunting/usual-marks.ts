// What people declared to be usual. Whoever raises something because it is unusual asks here first; nodes and rules never
// hear of it. decision: D147
import { isUsual, type UsualMark } from '../../machines/console/hunting/usual.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { USUAL_MARKS_MAX } from '../../machines/limits.ts';
import type { DocumentStore, HuntingDocument } from '../../storage/ports/hunting/document-store.ts';
import type { AuditContext } from '../../storage/ports/plumbing/audit-context.ts';
import type { Chance } from '../trust/chance.ts';

export type UsualDocument = HuntingDocument<UsualMark>;
export type UsualMarks = {
  list(): Promise<readonly UsualDocument[]>;
  /** A judge by the marks as they are now. */
  judge(): Promise<
    (what: { readonly binary: string; readonly sensorId: string }, nowMs: number) => boolean
  >;
  mark(
    input: AuditContext & { readonly mark: Omit<UsualMark, 'by'> },
  ): Promise<{ readonly ok: true; readonly mark: UsualDocument } | Refusal>;
  remove(input: AuditContext & { readonly id: string }): Promise<boolean>;
};

/** Makes the service over its store. */
export function createUsualMarks(deps: {
  readonly store: DocumentStore<UsualMark>;
  readonly chance: Pick<Chance, 'newId'>;
}): UsualMarks {
  const { store, chance } = deps;
  const list = () => store.list({ limit: USUAL_MARKS_MAX, before: null });
  return {
    list,
    async judge() {
      const marks = (await list()).map(({ body }) => body);
      return (what, nowMs) => isUsual(marks, what, nowMs);
    },
    async mark({ mark, ...context }) {
      const { binary, sensorId, reason, untilMs } = mark;
      if (binary === null && sensorId === null) return NOTHING;
      const { actor, from, nowMs } = context;
      const id = chance.newId();
      const added = await store.add({
        ...{ id, body: { ...mark, by: actor }, max: USUAL_MARKS_MAX, nowMs },
        audit: {
          ...{ atMs: nowMs, actor, from, action: 'usual.mark', target: id, result: 'ok' },
          detail: { binary, sensor_id: sensorId, reason, until_ms: untilMs },
        },
      });
      if (typeof added === 'string') return refuse('documents_full', 'That many are marked.');
      return { ok: true, mark: added };
    },
    remove({ id, actor, from, nowMs }) {
      const audit = { actor, from, action: 'usual.remove', target: id, result: 'ok' } as const;
      return store.remove({ id, nowMs, audit: { ...audit, atMs: nowMs, detail: {} } });
    },
  };
}

const NOTHING = refuse('schema_violation', 'Everything everywhere cannot be usual.', {
  errors: [{ pointer: '/binary', detail: 'name a program, a sensor, or both' }],
});
