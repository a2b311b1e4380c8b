// What people do with investigations. A change names the revision that it read; what was collected is kept beside it.
// decision: D143, D144

import type { AuditAction } from '../../machines/audit-actions.ts';
import type { InvestigationEvent } from '../../machines/console/hunting/investigation.machine.ts';
import {
  type Investigation,
  type InvestigationItem,
  investigationAfter,
  newInvestigation,
  takesItems,
} from '../../machines/console/hunting/investigation.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import {
  INVESTIGATION_ITEMS_MAX,
  INVESTIGATION_MOVES_MAX,
  INVESTIGATIONS_MAX,
} from '../../machines/limits.ts';
import type { DocumentStore, HuntingDocument } from '../../storage/ports/hunting/document-store.ts';
import type { AuditContext } from '../../storage/ports/plumbing/audit-context.ts';
import type { Chance } from '../trust/chance.ts';

export type InvestigationDocument = HuntingDocument<Investigation>;
export type ItemDocument = HuntingDocument<InvestigationItem>;
type Content = Pick<Investigation, 'name' | 'summary' | 'severity'>;
type Done = { readonly ok: true; readonly investigation: InvestigationDocument } | Refusal;

export type Investigations = {
  list(query: {
    readonly limit: number;
    readonly before: string | null;
  }): Promise<readonly InvestigationDocument[]>;
  get(id: string): Promise<InvestigationDocument | null>;
  /** Oldest first by when it happened. */
  itemsOf(id: string): Promise<readonly ItemDocument[]>;
  create(input: AuditContext & { readonly content: Content }): Promise<Done>;
  change(
    input: AuditContext & {
      readonly id: string;
      readonly revision: number;
      readonly content: Partial<Content>;
    },
  ): Promise<Done>;
  move(
    input: AuditContext & {
      readonly id: string;
      readonly event: InvestigationEvent;
      readonly text: string;
    },
  ): Promise<Done>;
  /** Adds one after the other; what is there already is not added again. How many are new. */
  add(
    input: AuditContext & { readonly id: string; readonly items: readonly InvestigationItem[] },
  ): Promise<{ readonly ok: true; readonly added: number } | Refusal>;
  takeOut(
    input: AuditContext & { readonly id: string; readonly itemId: string },
  ): Promise<{ readonly ok: true } | Refusal>;
};

type Deps = {
  readonly store: DocumentStore<Investigation>;
  readonly items: DocumentStore<InvestigationItem>;
  readonly chance: Pick<Chance, 'newId'>;
};

/** Makes the service over its stores. */
export function createInvestigations(deps: Deps): Investigations {
  const { store, chance } = deps;
  return {
    list: (query) => store.list(query),
    get: (id) => store.get(id),
    itemsOf: (id) => itemsOf(deps, id),
    async create({ content, ...context }) {
      const id = chance.newId();
      const body: Investigation = {
        ...{ ...content, createdBy: context.actor, standing: newInvestigation, moves: [] },
      };
      const audit = {
        ...{ ...entryOf(context, 'investigation.create', id), detail: {}, after: factsOf(body) },
      };
      const { nowMs } = context;
      const added = await store.add({ id, body, max: INVESTIGATIONS_MAX, nowMs, audit });
      if (typeof added === 'string') return refuse('documents_full', 'That many are kept.');
      return { ok: true, investigation: added };
    },
    async change({ id, revision, content, ...context }) {
      const before = await store.get(id);
      if (before === null) return NO_INVESTIGATION;
      if (!takesItems(before.body.standing)) return CLOSED;
      return write({ store, before, revision, context, body: { ...before.body, ...content } });
    },
    async move({ id, event, text, ...context }) {
      const before = await store.get(id);
      if (before === null) return NO_INVESTIGATION;
      const { body, revision } = before;
      const standing = investigationAfter(body.standing, event);
      if (standing === null) return refuse('state_refuses', `It is ${body.standing.state}.`);
      const [from, to] = [body.standing.state, standing.state];
      const made = { atMs: context.nowMs, by: context.actor, from, to, text };
      const moves = [...body.moves, made].slice(-INVESTIGATION_MOVES_MAX);
      return write({ store, before, revision, context, body: { ...body, standing, moves } });
    },
    ...collecting(deps),
  };
}

function collecting(deps: Deps): Pick<Investigations, 'add' | 'takeOut'> {
  const { store, items, chance } = deps;
  return {
    async add({ id, items: wanted, ...context }) {
      const before = await store.get(id);
      if (before === null) return NO_INVESTIGATION;
      if (!takesItems(before.body.standing)) return CLOSED;
      const known = new Set((await itemsOf(deps, id)).map(({ body }) => nameOf(body)));
      let added = 0;
      for (const body of wanted) {
        const name = nameOf(body);
        if (name !== null && known.has(name)) continue;
        const itemId = chance.newId();
        const detail = { what: body.what, item_id: itemId, ...(name === null ? {} : { name }) };
        const done = await items.add({
          ...{ id: itemId, parentId: id, body, max: INVESTIGATION_ITEMS_MAX },
          nowMs: context.nowMs,
          audit: { ...entryOf(context, 'investigation.add', id), detail },
        });
        if (done === 'orphan') return NO_INVESTIGATION;
        if (done === 'full') return refuse('documents_full', 'It holds that many things.');
        known.add(name);
        added += 1;
      }
      return { ok: true, added };
    },
    async takeOut({ id, itemId, ...context }) {
      const [before, item] = await Promise.all([store.get(id), items.get(itemId)]);
      if (before === null) return NO_INVESTIGATION;
      if (item === null || item.parentId !== id) return NO_ITEM;
      if (!takesItems(before.body.standing)) return CLOSED;
      const { what } = item.body;
      const detail = { what, item_id: itemId, name: nameOf(item.body) };
      const audit = { ...entryOf(context, 'investigation.take_out', id), detail };
      const isGone = await items.remove({ id: itemId, nowMs: context.nowMs, audit });
      return isGone ? { ok: true } : NO_ITEM;
    },
  };
}

async function itemsOf(
  { items }: Pick<Deps, 'items'>,
  id: string,
): Promise<readonly ItemDocument[]> {
  const query = { parentId: id, limit: INVESTIGATION_ITEMS_MAX, before: null };
  const found = await items.list(query);
  return found.toSorted((a, b) => a.body.atMs - b.body.atMs || (a.id < b.id ? -1 : 1));
}

async function write(of: {
  readonly store: DocumentStore<Investigation>;
  readonly before: InvestigationDocument;
  readonly revision: number;
  readonly context: AuditContext;
  readonly body: Investigation;
}): Promise<Done> {
  const { store, before, revision, context, body } = of;
  const { id } = before;
  const audit = {
    ...entryOf(context, 'investigation.change', id),
    ...{ detail: {}, before: factsOf(before.body), after: factsOf(body) },
  };
  const changed = await store.change({ id, revision, body, nowMs: context.nowMs, audit });
  if (changed === 'not_found') return NO_INVESTIGATION;
  if (changed === 'conflict') return CONFLICT;
  return { ok: true, investigation: changed };
}

export const NO_INVESTIGATION = refuse('not_found', 'There is no such investigation.');
const NO_ITEM = refuse('not_found', 'There is no such thing in this investigation.');
const CLOSED = refuse('state_refuses', 'It is closed.');
const CONFLICT = refuse('document_conflict', 'The investigation was changed meanwhile.');

/** By what something is the same again; null: every note is its own. */
function nameOf(item: InvestigationItem): string | null {
  switch (item.what) {
    case 'note':
      return null;
    case 'event':
      return `event ${item.sensorId} ${item.eventId}`;
    case 'alert':
      return `alert ${item.alertId}`;
    case 'sensor':
      return `sensor ${item.sensorId}`;
  }
}

function entryOf({ actor, from, nowMs: atMs }: AuditContext, action: AuditAction, target: string) {
  return { atMs, actor, from, action, target, result: 'ok' };
}

function factsOf({ name, severity, standing }: Investigation) {
  const { state, assignee, outcome } = standing;
  return { name, severity, state, assignee, outcome };
}
