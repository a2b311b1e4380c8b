// The first run's API. The code is exchanged for a token once; every answer needs the token. What comes back never holds a
// secret. decision: D42
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { SetupState } from '../../actors/settings/setup.actor.ts';
import {
  NEEDED_STEPS,
  nextStep,
  type SetupStep,
} from '../../machines/console/settings/setup.rules.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { TESTED_STORES } from '../../storage/ports/plumbing/connection-tests.ts';
import { withoutSecrets } from '../../storage/ports/plumbing/store-address.ts';
import { addressKey, budgetHeaders, type RateBudget } from '../access/rate-budget.ts';
import { sendRefusal } from '../operator-plane/plumbing/problem-reply.ts';
import { Strict } from '../operator-plane/plumbing/shapes.ts';
import type { SetupCodes } from './setup-code.ts';
import { OFFERED_STEPS, type SetupDraft } from './setup-draft.ts';
import type { SetupService } from './setup-service.ts';

const Url = Type.String({ minLength: 1, maxLength: 4_096 });
const StoreAnswer = Type.Union([
  Strict({ kind: Type.Literal('embedded') }),
  Strict({ kind: Type.Literal('external'), url: Url }),
]);

export type SetupRoutesDeps = {
  readonly service: SetupService;
  readonly state: () => SetupState;
  readonly acceptCode: () => void;
  readonly codes: SetupCodes;
  /** Attempts of an address; a right code or token takes none. */
  readonly attempts: RateBudget;
  /** Told each wrong code or token, and where from. */
  readonly onRefused: (address: string) => void;
  readonly version: string;
  /** Called when the answer of the last step is on its way. */
  readonly onFinished: () => void;
};

/** The routes below /api/v2/setup. */
export function setupRoutes(deps: SetupRoutesDeps): FastifyPluginAsyncTypebox {
  const { service, codes, attempts } = deps;
  const view = () => viewOf(deps);

  /** Lets who has the token pass; a wrong one is an attempt. */
  async function demandToken(request: FastifyRequest, reply: FastifyReply) {
    const [, token = ''] =
      /^Bearer ([\w-]{1,128})$/.exec(request.headers.authorization ?? '') ?? [];
    if (codes.isToken(token)) return undefined;
    const blocked = await countAttempt(attempts, request, reply);
    deps.onRefused(request.ip);
    const wrong = refuse('setup_code_invalid', 'The setup is open to who has shown its code.');
    return sendRefusal(reply, blocked ?? wrong);
  }

  return async (app) => {
    app.get('/setup', async (request) => {
      const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
      return codes.isToken(token) ? view() : { state: 'awaiting_code', version: deps.version };
    });

    app.post(
      '/setup/unlock',
      { schema: { body: Strict({ code: Type.String({ maxLength: 64 }) }) } },
      async (request, reply) => {
        const blocked = await countAttempt(attempts, request, reply);
        if (blocked !== null) return sendRefusal(reply, blocked);
        const token = codes.unlock(request.body.code);
        if (token === null) {
          deps.onRefused(request.ip);
          return sendRefusal(reply, refuse('setup_code_invalid', 'This is not the setup code.'));
        }
        await attempts.reward(addressKey(request.ip));
        deps.acceptCode();
        return { token, ...view() };
      },
    );

    await app.register(async (guarded) => {
      guarded.addHook('onRequest', demandToken);
      answerRoutes(guarded as typeof app, service, view);
      guarded.post('/setup/finish', async (_request, reply) => {
        const finished = await service.finish();
        if (!finished.ok) return sendRefusal(reply, finished);
        deps.onFinished();
        return reply.code(202).send(view());
      });
    });
  };
}

const isOffered = (step: SetupStep): boolean => OFFERED_STEPS.includes(step);

function answerRoutes(
  app: Parameters<FastifyPluginAsyncTypebox>[0],
  service: SetupService,
  view: () => object,
): void {
  const answered = (reply: FastifyReply, result: { readonly ok: true } | Refusal) => {
    if (!result.ok) return sendRefusal(reply, result);
    const { ok: _ok, ...more } = result;
    return reply.send({ ...view(), ...more });
  };

  app.post(
    '/setup/test',
    { schema: { body: Strict({ store: Type.Enum(TESTED_STORES.filter(isOffered)), url: Url }) } },
    async ({ body }, reply) => {
      const tested = await service.test(body.store, body.url);
      return tested.ok ? { about: tested.about } : sendRefusal(reply, tested);
    },
  );

  app.put(
    '/setup/platform',
    {
      schema: {
        body: Strict({
          platform: Type.Enum(['standard', 'telecom']),
          base_url: Type.Optional(Url),
        }),
      },
    },
    async ({ body }, reply) =>
      answered(reply, await service.platform(body.platform, body.base_url ?? null)),
  );

  for (const store of ['database', 'analytics'] as const) {
    app.put(`/setup/${store}`, { schema: { body: StoreAnswer } }, async ({ body }, reply) =>
      answered(reply, await service.store(store, body.kind === 'embedded' ? null : body.url)),
    );
  }
  for (const store of (['broker', 'redis'] as const).filter(isOffered)) {
    app.put(
      `/setup/${store}`,
      { schema: { body: Strict({ url: Url }) } },
      async ({ body }, reply) => answered(reply, await service.store(store, body.url)),
    );
  }
  for (const step of (['broker', 'redis', 'license'] as const).filter(isOffered)) {
    app.delete(`/setup/${step}`, async (_request, reply) =>
      answered(reply, await service.undo(step)),
    );
  }

  app.put(
    '/setup/license',
    { schema: { body: Type.Object({}, { additionalProperties: true }) } },
    async ({ body }, reply) => answered(reply, await service.license(body)),
  );

  app.put(
    '/setup/admin',
    {
      schema: {
        body: Strict({
          email: Type.String({ maxLength: 320 }),
          display_name: Type.Optional(Type.String({ maxLength: 128 })),
          password: Type.String({ maxLength: 1_024 }),
        }),
      },
    },
    async ({ body }, reply) => {
      const { email, display_name: displayName = '', password } = body;
      return answered(reply, await service.admin({ email, displayName, password }));
    },
  );
}

async function countAttempt(
  attempts: RateBudget,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Refusal | null> {
  const budget = await attempts.consume(addressKey(request.ip));
  reply.headers(budgetHeaders('setup', budget));
  if (budget.allowed) return null;
  return refuse('rate_limited', 'Too many wrong codes.', { retryAfterMs: budget.resetMs });
}

/** How far the setup is, as its page shows it. */
export type SetupView = ReturnType<typeof viewOf>;

function viewOf({ service, state, version }: SetupRoutesDeps) {
  const { done, canFinish, reason, state: name } = state();
  const { configuration, license, admin } = service.draft();
  const license_id = (license as { payload?: { license_id?: unknown } } | undefined)?.payload
    ?.license_id;
  return {
    state: name,
    version,
    next: nextStep(done),
    steps: OFFERED_STEPS.map((step) => ({
      step,
      needed: (NEEDED_STEPS as readonly string[]).includes(step),
      done: done.includes(step),
    })),
    can_finish: canFinish,
    reason,
    answers: { ...shown(configuration), license_id, admin_email: admin?.email },
  };
}

function shown(configuration: SetupDraft['configuration']): Record<string, string> {
  const entries = Object.entries(configuration);
  return Object.fromEntries(entries.map(([name, value]) => [name, withoutSecrets(value)]));
}
