// The resource `settings`: every setting with its default, its revision and when a change counts; a change of several at
// once, refused as a whole with every mistake named, or when somebody else was faster. decision: D38
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import type { SettingsService, SettingView } from '../../../actors/settings/settings-service.ts';
import { APPLIES } from '../../../machines/console/settings/setting.ts';
import {
  SECURITY_SETTINGS,
  SETTING_NAMES,
  schemaOfSetting,
} from '../../../machines/console/settings/settings.rules.ts';
import { operatorOf, refusalOfStale } from '../plumbing/guard.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, refusals, Strict, Time } from '../plumbing/shapes.ts';
import { timeTextOrNull } from '../plumbing/time-range.ts';

const Setting = Type.Object({
  name: Type.String(),
  value: Type.Unknown(),
  default: Type.Unknown(),
  revision: Type.Integer({ description: '0: nobody ever set it' }),
  applies: Type.Enum([...APPLIES]),
  about: Type.String(),
  schema: Type.Unknown({ description: 'JSON Schema of the value' }),
  changed_at: Nullable(Time),
  changed_by: Nullable(Type.String()),
});
export const SettingsAnswer = Type.Object({ items: Type.Array(Setting) });
// The values themselves are judged by the rules of settings, which name every mistake at once.
export const SettingsChange = Strict({
  values: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Name to value; null gives a setting its default back',
    minProperties: 1,
    maxProperties: SETTING_NAMES.length * 2,
  }),
  revisions: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
    description: 'Of every name in values, the revision that was seen',
    maxProperties: SETTING_NAMES.length * 2,
  }),
});

/** The routes; `settings:read` sees, `settings:write` changes. */
export function settingsRoutes({
  settings,
  now,
}: {
  readonly now: () => number;
  readonly settings: Pick<SettingsService, 'view' | 'change'>;
}): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/settings', {
      config: { guard: { scope: 'settings:read' } },
      schema: {
        operationId: 'listSettings',
        summary: 'Every setting, its default and its revision',
        tags: ['settings'],
        response: { 200: SettingsAnswer, ...refusals(401, 403, 429) },
      },
      handler: async () => answerOf(settings),
    });

    app.patch('/settings', {
      config: { guard: { scope: 'settings:write' } },
      schema: {
        operationId: 'changeSettings',
        summary: 'Change settings, all of the named ones or none',
        tags: ['settings'],
        body: SettingsChange,
        response: { 200: SettingsAnswer, ...refusals(401, 403, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { values, revisions } = request.body;
        const by = operatorOf(request);
        const isSecurity = Object.keys(values).some((name) => SECURITY_SETTINGS.has(name));
        const stale = isSecurity ? refusalOfStale(by, now()) : null;
        if (stale !== null) return sendRefusal(reply, stale);
        const changed = await settings.change({
          ...{ actor: by.actor, from: request.ip },
          ...{ values, revisions, by },
        });
        return changed.ok ? answerOf(settings) : sendRefusal(reply, changed);
      },
    });
  };
}

function answerOf(settings: Pick<SettingsService, 'view'>): Type.Static<typeof SettingsAnswer> {
  return { items: settings.view().map(shown) };
}

function shown(one: SettingView): Type.Static<typeof Setting> {
  return {
    name: one.name,
    value: one.value,
    default: one.default,
    revision: one.revision,
    applies: one.applies,
    about: one.about,
    schema: schemaOfSetting(one.name),
    changed_at: timeTextOrNull(one.changedAtMs),
    changed_by: one.changedBy,
  };
}
