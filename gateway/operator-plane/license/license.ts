// The resource `license`: the bundle this Console runs under, its timeline, and what operators have to be told of it.
// Importing another one is all that can be done with it. decision: D32; invariant: I16

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import type { LicenseService, LicenseView } from '../../../actors/license/license-service.ts';
import type { SettingsService } from '../../../actors/settings/settings-service.ts';
import { LICENSE_PHASES, type LicenseFacts } from '../../../machines/trust/license.rules.ts';
import { LicenseEnvelope } from '../../../machines/wire/license.ts';
import type { FleetView } from '../plumbing/deps.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { Nullable, refusals, Time } from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';
import { bannerText } from './license-texts.ts';

const License = Type.Object({
  license_id: Type.String(),
  customer_id: Type.String(),
  workspace_id: Type.String(),
  plan: Type.String(),
  max_protected_nodes: Type.Integer(),
  valid_from: Time,
  valid_until: Time,
  grace_until: Time,
  issued_at: Time,
  imported_at: Nullable(Time),
  imported_by: Nullable(Type.String()),
});
const Banner = Type.Object({
  level: Type.Enum(['info', 'warning', 'critical']),
  reason: Type.Enum(['absent', 'pending', 'ending_soon', 'grace', 'expired', 'clock_behind']),
  text: Type.String(),
  days_left: Nullable(Type.Integer()),
});
const LicenseAnswer = Type.Object({
  phase: Type.Enum([...LICENSE_PHASES]),
  trust_anchor: Type.Enum(['embedded', 'evaluation']),
  license: Nullable(License),
  stored_license_refused: Type.Boolean(),
  default_grace_days: Type.Integer({
    description: 'of a license that is signed here without its own; a signed one keeps its own',
  }),
  timeline: Type.Array(
    Type.Object({
      phase: Type.Enum([...LICENSE_PHASES]),
      from: Nullable(Time),
      until: Nullable(Time),
      is_current: Type.Boolean(),
    }),
  ),
  banners: Type.Array(Banner),
  enrollment: Type.Object({
    nodes_allowed: Nullable(Type.Integer()),
    protected_nodes: Type.Integer(),
  }),
  clock: Type.Object({ now: Time, largest_seen: Time, is_behind: Type.Boolean() }),
});

/** The license as it is shown. */
export function licenseAnswer(
  view: LicenseView,
  more: { readonly protectedNodes: number; readonly graceDays: number },
): Type.Static<typeof LicenseAnswer> {
  return {
    phase: view.phase,
    trust_anchor: view.anchor,
    license: view.license === null ? null : shownLicense(view.license, view.stored),
    stored_license_refused: view.isStoredRefused,
    default_grace_days: more.graceDays,
    timeline: view.timeline.map(({ phase, fromMs, untilMs }) => ({
      phase,
      from: timeTextOrNull(fromMs),
      until: timeTextOrNull(untilMs),
      is_current: phase === view.phase,
    })),
    banners: view.banners.map((banner) => ({
      level: banner.level,
      reason: banner.reason,
      text: bannerText(banner, view),
      days_left: banner.daysLeft,
    })),
    enrollment: { nodes_allowed: view.nodesAllowed, protected_nodes: more.protectedNodes },
    clock: {
      now: timeText(view.nowMs),
      largest_seen: timeText(view.seenMs),
      is_behind: view.isClockBehind,
    },
  };
}

type LicenseRouteDeps = {
  readonly license: Pick<LicenseService, 'view' | 'import'>;
  readonly settings: Pick<SettingsService, 'get'>;
  readonly fleet: Pick<FleetView, 'counts'>;
};

export function licenseRoutes(deps: LicenseRouteDeps): FastifyPluginAsyncTypebox {
  const answer = () => {
    const { total, revoked } = deps.fleet.counts();
    const { licenseGraceDays: graceDays } = deps.settings.get();
    return licenseAnswer(deps.license.view(), { protectedNodes: total - revoked, graceDays });
  };
  return async (app) => {
    app.get('/license', {
      config: { guard: { scope: 'license:read' } },
      schema: {
        operationId: 'getLicense',
        summary: 'The license, its timeline, and what is to be told of it',
        tags: ['license'],
        response: { 200: LicenseAnswer, ...refusals(401, 403, 429) },
      },
      handler: async () => answer(),
    });

    app.post('/license', {
      config: { guard: { scope: 'license:write' } },
      schema: {
        operationId: 'importLicense',
        summary: 'Import a license bundle; it is verified offline and replaces the one in force',
        tags: ['license'],
        body: LicenseEnvelope,
        response: { 200: LicenseAnswer, ...refusals(401, 403, 409, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { actor } = operatorOf(request);
        const imported = await deps.license.import({
          envelope: request.body,
          actor,
          from: request.ip,
        });
        return imported.ok ? answer() : sendRefusal(reply, imported);
      },
    });
  };
}

function shownLicense(
  facts: LicenseFacts,
  stored: LicenseView['stored'],
): Type.Static<typeof License> {
  return {
    license_id: facts.licenseId,
    customer_id: facts.customerId,
    workspace_id: facts.workspaceId,
    plan: facts.plan,
    max_protected_nodes: facts.maxProtectedNodes,
    valid_from: timeText(facts.validFromMs),
    valid_until: timeText(facts.validUntilMs),
    grace_until: timeText(facts.graceUntilMs),
    issued_at: timeText(facts.issuedAtMs),
    imported_at: timeTextOrNull(stored?.importedAtMs ?? null),
    imported_by: stored?.importedBy ?? null,
  };
}
