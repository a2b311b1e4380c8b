// The resource `packs`: drafts, checks with line and column, published versions that never change. decision: D80, D82
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { checkPolicies } from '../../../actors/policy/pack-check.ts';
import { versionsOf } from '../../../machines/console/policy/book.rules.ts';
import { refuse } from '../../../machines/errors.ts';
import { PACK_NAME_MAX_CHARS, PACK_POLICIES_MAX } from '../../../machines/policy/limits.ts';
import { PackVersion, SignedPack } from '../../../machines/wire/policy.ts';
import { Flavor, Uuid } from '../../../machines/wire/scalars.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { PageOf, PageQuery, refusals, Strict } from '../plumbing/shapes.ts';
import { Check, checkView, Draft, Pack, packView, Version, versionView } from './pack-view.ts';
import { doingOf, type PolicyRouteDeps, PolicyText, pageAmong } from './policy-deps.ts';

const Path = Strict({ id: Uuid });
const VersionPath = Strict({ id: Uuid, version: PackVersion });
const Name = Type.String({ minLength: 1, maxLength: PACK_NAME_MAX_CHARS, pattern: '\\S' });
const Dry = Type.Optional(Type.Boolean({ description: 'say what it would be, and keep nothing' }));
const DraftAnswer = Type.Object({ revision: Type.Integer(), draft: Draft });
const CheckAnswer = Type.Object({ items: Type.Array(Check) });
const EMPTY: Type.Static<typeof Draft> = {
  ...{ mode: 'monitor', modes_allowed: ['monitor', 'enforce'] },
  ...{ namespace_scope: null, rollback_to: [], policies: [] },
};
const ABSENT = refuse('not_found', 'There is no such pack, or not this version of it.');
const tags = ['packs'];
const reading = { config: { guard: { scope: 'policies:read' as const } } };
const writing = { config: { guard: { scope: 'policies:write' as const } } };
const seen = refusals(401, 403, 404, 422, 429, 503);
const changed = refusals(401, 403, 404, 409, 413, 422, 429, 503);

export function packRoutes(deps: PolicyRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    await readingRoutes(deps)(app, {});
    await changingRoutes(deps)(app, {});
    await versionRoutes(deps)(app, {});
  };
}

function readingRoutes({ book, packs, cursors }: PolicyRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/packs', {
      ...reading,
      schema: {
        operationId: 'listPacks',
        summary: 'List packs by name',
        tags,
        querystring: Strict(PageQuery),
        response: { 200: PageOf(Pack), ...refusals(401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const rows = [...book.book().packs.values()];
        const page = pageAmong({ path: 'packs', cursors }, request.query, rows, (one) =>
          one.name.toLowerCase(),
        );
        if (!page.ok) return sendRefusal(reply, page);
        return pageOf(reply, page.items.map(packView), page.next);
      },
    });

    app.get('/packs/:id', {
      ...reading,
      schema: {
        operationId: 'getPack',
        summary: 'One pack with its versions, newest first',
        tags,
        params: Path,
        response: {
          200: Type.Intersect([Pack, Type.Object({ versions: Type.Array(Version) })]),
          ...seen,
        },
      },
      handler: async (request, reply) => {
        const { id } = request.params;
        const row = book.book().packs.get(id);
        if (row === undefined) return sendRefusal(reply, ABSENT);
        return { ...packView(row), versions: versionsOf(book.book(), id).map(versionView) };
      },
    });

    app.get('/packs/:id/draft', {
      ...reading,
      schema: {
        operationId: 'getPackDraft',
        summary: 'What the next version is made of',
        tags,
        params: Path,
        response: { 200: DraftAnswer, ...seen },
      },
      handler: async (request, reply) => {
        const row = book.book().packs.get(request.params.id);
        const draft = row === undefined ? null : await packs.draft(row.packId);
        if (row === undefined || draft === null) return sendRefusal(reply, ABSENT);
        return { revision: row.draftRevision, draft: draft as Type.Static<typeof Draft> };
      },
    });
  };
}

function changingRoutes({ packs, chance, now }: PolicyRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/packs', {
      ...writing,
      schema: {
        operationId: 'createPack',
        summary: 'Make a pack with a draft and no version',
        tags,
        body: Strict({
          name: Name,
          flavor: Type.Optional(Flavor),
          draft: Type.Optional(Draft),
        }),
        response: { 201: Pack, ...changed },
      },
      handler: async (request, reply) => {
        const { name, flavor = 'standard', draft = EMPTY } = request.body;
        const packId = chance.newId();
        const made = await packs.create({
          ...doingOf(request, now),
          ...{ packId, name: name.trim(), flavor, draft },
        });
        if (!made.ok) return sendRefusal(reply, made);
        reply.code(201);
        return packView(made.answer);
      },
    });

    app.put('/packs/:id/draft', {
      ...writing,
      schema: {
        operationId: 'changePackDraft',
        summary: 'Replace the draft that was read',
        tags,
        params: Path,
        body: Strict({ revision: Type.Integer({ minimum: 0 }), draft: Draft }),
        response: { 200: Pack, ...changed },
      },
      handler: async (request, reply) => {
        const { revision, draft } = request.body;
        const packId = request.params.id;
        const doing = doingOf(request, now);
        const done = await packs.changeDraft({ ...doing, packId, revision, draft });
        return done.ok ? packView(done.answer) : sendRefusal(reply, done);
      },
    });

    app.post('/packs/check', {
      ...reading,
      schema: {
        operationId: 'checkPolicies',
        summary: 'Judge policies as publishing would: places, engines, what each does',
        tags,
        body: Strict({
          policies: Type.Array(PolicyText, { minItems: 1, maxItems: PACK_POLICIES_MAX }),
        }),
        response: { 200: CheckAnswer, ...refusals(401, 403, 413, 422, 429) },
      },
      handler: async (request) => ({
        items: checkPolicies(request.body.policies).map(checkView),
      }),
    });
  };
}

function versionRoutes({ packs, wanted, now }: PolicyRouteDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.post('/packs/:id/publish', {
      ...writing,
      schema: {
        operationId: 'publishPack',
        summary: 'Sign the draft as the next version, which never changes',
        tags,
        params: Path,
        body: Strict({ dry_run: Dry }),
        response: { 200: Version, ...changed },
      },
      handler: async (request, reply) => {
        const { dry_run: isDryRun = false } = request.body;
        const packId = request.params.id;
        const heard = wanted.heardOf(packId);
        const done = await packs.publish({ ...doingOf(request, now), packId, isDryRun, heard });
        return done.ok ? versionView(done.answer) : sendRefusal(reply, done);
      },
    });

    app.post('/packs/signed', {
      ...writing,
      schema: {
        operationId: 'publishSignedPack',
        summary: 'Publish a pack that was signed elsewhere, as it is',
        tags,
        body: Strict({ pack: SignedPack, dry_run: Dry }),
        response: { 200: Version, ...changed },
      },
      handler: async (request, reply) => {
        const { pack, dry_run: isDryRun = false } = request.body;
        const done = await packs.publishSigned({ ...doingOf(request, now), pack, isDryRun });
        return done.ok ? versionView(done.answer) : sendRefusal(reply, done);
      },
    });

    app.get('/packs/:id/versions/:version', {
      ...reading,
      schema: {
        operationId: 'getPackVersion',
        summary: 'One published version, whole, as nodes download it',
        tags,
        params: VersionPath,
        response: { 200: SignedPack, ...seen },
      },
      handler: async (request, reply) => {
        const { id, version } = request.params;
        const pack = await packs.signed(id, version);
        return pack ?? sendRefusal(reply, ABSENT);
      },
    });
  };
}
