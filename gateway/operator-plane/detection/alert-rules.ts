// The resource `alert-rules`: what is looked for in events, tried on stored ones before it is saved. invariant: I18
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { backtest } from '../../../actors/detection/backtest.ts';
import type { RuleEngine } from '../../../actors/detection/rule-engine.ts';
import type { LabelsOf } from '../../../actors/detection/running-rule.ts';
import type { Chance } from '../../../actors/trust/chance.ts';
import {
  type CompiledRule,
  compileRule,
  type RuleFault,
} from '../../../machines/detection/rule-compile.ts';
import { RuleSpec } from '../../../machines/detection/rule-spec.ts';
import { type Refusal, refuse } from '../../../machines/errors.ts';
import { BACKTEST_BARS, BACKTEST_RANGE_MAX_MS } from '../../../machines/limits.ts';
import type { AlertStore } from '../../../storage/ports/detection/alert-store.ts';
import type { RuleStore } from '../../../storage/ports/detection/rule-store.ts';
import type { Time } from '../../../storage/ports/plumbing/clock.ts';
import type { EventStore } from '../../../storage/ports/telemetry/event-store.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { refusals, Strict } from '../plumbing/shapes.ts';
import { INSTANT_PATTERN, parseInstant } from '../plumbing/time-range.ts';
import { askEvents } from '../telemetry/ask-events.ts';
import type { SearchTurns } from '../telemetry/search-turns.ts';
import {
  AlertRule,
  AlertRuleWithVersions,
  Backtest,
  backtestView,
  ruleView,
  versionView,
} from './rule-shapes.ts';

const RuleId = Type.String({ minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9._-]+$' });
const Path = Strict({ id: RuleId });
const NO_RULE = refuse('not_found', 'There is no such alert rule.');
const Instant = Type.String({ pattern: INSTANT_PATTERN, maxLength: 40 });
const DAY_AGO = 'now-1d';
export const NewRule = Strict({ rule_id: Type.Optional(RuleId), spec: RuleSpec });
export const RuleChange = Strict({
  spec: RuleSpec,
  version: Type.Integer({ minimum: 1, description: 'the one that was read' }),
});
export const BacktestAsked = Strict({
  spec: RuleSpec,
  from: Type.Optional(Instant),
  to: Type.Optional(Instant),
});

export type RuleRouteDeps = {
  readonly rules: RuleStore;
  readonly store: Pick<AlertStore, 'liveByRule'>;
  readonly events: Pick<EventStore, 'arrivals' | 'search'>;
  readonly engine: Pick<RuleEngine, 'costs' | 'look'>;
  readonly searches: SearchTurns;
  readonly labelsOf: LabelsOf;
  readonly chance: Pick<Chance, 'newId'>;
  readonly now: () => number;
  readonly time: Pick<Time, 'monotonicNow' | 'setTimeout'>;
};

/** The routes. */
export function ruleRoutes(deps: RuleRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await readRoutes(deps)(app, {});
    await writeRoutes(deps)(app, {});
    await removeRoute(deps)(app, {});
    await backtestRoute(deps)(app, {});
  };
}

function readRoutes({ rules, store, engine }: RuleRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/alert-rules', {
      config: { guard: { scope: 'alert-rules:read' } },
      schema: {
        operationId: 'listAlertRules',
        summary: 'Every alert rule',
        tags: ['alert-rules'],
        response: {
          200: Type.Object({ items: Type.Array(AlertRule) }),
          ...refusals(401, 403, 429, 503),
        },
      },
      handler: async () => {
        const [rows, live] = [await rules.list(), await store.liveByRule()];
        const costs = engine.costs();
        return {
          items: rows.map((row) =>
            ruleView(row, { cost: costs.get(row.ruleId), live: live.get(row.ruleId) ?? 0 }),
          ),
        };
      },
    });

    app.get('/alert-rules/:id', {
      config: { guard: { scope: 'alert-rules:read' } },
      schema: {
        operationId: 'getAlertRule',
        summary: 'One alert rule with its versions',
        tags: ['alert-rules'],
        params: Path,
        response: { 200: AlertRuleWithVersions, ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const found = await rules.get(request.params.id);
        if (found === null) return sendRefusal(reply, NO_RULE);
        const live = (await store.liveByRule()).get(found.row.ruleId) ?? 0;
        const cost = engine.costs().get(found.row.ruleId);
        return {
          rule: ruleView(found.row, { cost, live }),
          versions: found.versions.map(versionView),
        };
      },
    });
  };
}

function writeRoutes(deps: RuleRouteDeps): FastifyPluginAsyncTypebox {
  const { rules, engine, chance, now } = deps;
  return async (app) => {
    app.post('/alert-rules', {
      config: { guard: { scope: 'alert-rules:write' } },
      schema: {
        operationId: 'createAlertRule',
        summary: 'Add an alert rule',
        tags: ['alert-rules'],
        body: NewRule,
        response: { 201: AlertRule, ...refusals(401, 403, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { rule_id: ruleId = chance.newId(), spec } = request.body;
        const compiled = compiledOf(ruleId, spec);
        if (!compiled.ok) return sendRefusal(reply, compiled);
        const by = { actor: operatorOf(request).actor, from: request.ip, nowMs: now() };
        const made = await rules.put({ ...by, ruleId, spec, version: null });
        if (typeof made === 'string') return sendRefusal(reply, refusalOf(made));
        await lookAgain(engine);
        reply.code(201);
        return ruleView(made, { cost: engine.costs().get(ruleId), live: 0 });
      },
    });

    app.put('/alert-rules/:id', {
      config: { guard: { scope: 'alert-rules:write' } },
      schema: {
        operationId: 'changeAlertRule',
        summary: 'Replace an alert rule by its next version; a paused one runs again',
        tags: ['alert-rules'],
        params: Path,
        body: RuleChange,
        response: { 200: AlertRule, ...refusals(401, 403, 404, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { id: ruleId } = request.params;
        const { spec, version } = request.body;
        const compiled = compiledOf(ruleId, spec);
        if (!compiled.ok) return sendRefusal(reply, compiled);
        const by = { actor: operatorOf(request).actor, from: request.ip, nowMs: now() };
        const made = await rules.put({ ...by, ruleId, spec, version });
        if (typeof made === 'string') return sendRefusal(reply, refusalOf(made));
        await lookAgain(engine);
        const live = (await deps.store.liveByRule()).get(ruleId) ?? 0;
        return ruleView(made, { cost: engine.costs().get(ruleId), live });
      },
    });
  };
}

function removeRoute({ rules, engine, now }: RuleRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.delete('/alert-rules/:id', {
      config: { guard: { scope: 'alert-rules:write' } },
      schema: {
        operationId: 'removeAlertRule',
        summary: 'Remove an alert rule; its alerts stay',
        tags: ['alert-rules'],
        params: Path,
        response: { 204: Type.Null(), ...refusals(401, 403, 404, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const by = { actor: operatorOf(request).actor, from: request.ip, nowMs: now() };
        const isGone = await rules.remove({ ...by, ruleId: request.params.id });
        if (!isGone) return sendRefusal(reply, NO_RULE);
        await lookAgain(engine);
        reply.code(204);
        return null;
      },
    });
  };
}

function backtestRoute(deps: RuleRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/alert-rules/backtest', {
      config: { guard: { scope: 'alert-rules:read' } },
      schema: {
        operationId: 'backtestAlertRule',
        summary: 'Try a rule on what was received in a range; nobody is told',
        tags: ['alert-rules'],
        body: BacktestAsked,
        response: { 200: Backtest, ...refusals(401, 403, 422, 429, 503, 504) },
      },
      handler: async (request, reply) => {
        const { spec, from = DAY_AGO, to } = request.body;
        const nowMs = deps.now();
        const toMs = to === undefined ? nowMs : (parseInstant(to, nowMs) ?? nowMs);
        const fromMs = Math.max(parseInstant(from, nowMs) ?? 0, toMs - BACKTEST_RANGE_MAX_MS);
        if (fromMs >= toMs) {
          return sendRefusal(reply, refuse('rule_refused', 'The range ends before it begins.'));
        }
        const compiled = compiledOf('backtest', spec);
        if (!compiled.ok) return sendRefusal(reply, compiled);
        const result = await askEvents(deps.searches, request, (signal) =>
          backtest(deps, compiled.rule, { fromMs, toMs, bars: BACKTEST_BARS, signal }),
        );
        return backtestView(result, { fromMs, toMs });
      },
    });
  };
}

/** Stores that are away do not undo what is saved: the loop looks again. */
function lookAgain(engine: Pick<RuleEngine, 'look'>): Promise<void> {
  return engine.look().catch(() => undefined);
}

function compiledOf(
  ruleId: string,
  spec: RuleSpec,
): { readonly ok: true; readonly rule: CompiledRule } | Refusal {
  const compiled = compileRule(ruleId, spec);
  return compiled.ok ? compiled : refusedOf(compiled.faults);
}

function refusedOf(faults: readonly RuleFault[]): Refusal {
  const errors = faults.map(({ pointer, detail }) => ({ pointer: `/spec${pointer}`, detail }));
  return refuse('rule_refused', 'The rule cannot be read.', { errors });
}

function refusalOf(why: 'not_found' | 'conflict' | 'full'): Refusal {
  if (why === 'not_found') return NO_RULE;
  if (why === 'full') return refuse('rules_full', 'Remove a rule before another one is added.');
  return refuse('rule_conflict', 'Somebody else made or changed this rule meanwhile.');
}
