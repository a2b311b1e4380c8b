// The resource `license` by example: who may see and import, what is shown over its life.
import { afterEach, describe, expect, it } from 'vitest';
import { signLicense } from '../../../actors/license/envelope-signature.ts';
import { licensePayload } from '../../../props/attacks/license-issuer.ts';
import {
  createFixture,
  type Fixture,
  LICENSE_KEY,
  NOW_MS,
} from '../plumbing/operator-plane.fixture.ts';

const DAY_MS = 86_400_000;
let fixture: Fixture;
afterEach(() => fixture.close());

const bundle = (more: Parameters<typeof licensePayload>[1] = {}) => {
  const signed = signLicense(licensePayload(NOW_MS, more), LICENSE_KEY);
  if (!signed.ok) throw new Error(signed.detail);
  return signed.envelope;
};

async function callerWith(scopes: readonly string[]) {
  fixture = await createFixture();
  const authorization = `Bearer ${fixture.addKey(scopes)}`;
  return async (body?: object) => {
    const answer = await fixture.app.inject({
      method: body === undefined ? 'GET' : 'POST',
      url: '/api/v2/license',
      headers: { authorization },
      ...(body === undefined ? {} : { payload: body }),
    });
    return { status: answer.statusCode, body: answer.json() };
  };
}

describe('the license', () => {
  it('should be shown as absent, with its reason for a banner', async () => {
    const ask = await callerWith(['license:read']);
    expect(await ask()).toMatchObject({
      status: 200,
      body: {
        phase: 'absent',
        trust_anchor: 'evaluation',
        license: null,
        stored_license_refused: false,
        default_grace_days: 30,
        timeline: [],
        banners: [{ level: 'info', reason: 'absent', days_left: null }],
        enrollment: { nodes_allowed: null, protected_nodes: 0 },
        clock: { is_behind: false },
      },
    });
  });

  it('should be imported by whoever may, and shown with its timeline', async () => {
    const ask = await callerWith(['license:read', 'license:write']);
    fixture.addSensor(1);
    const { status, body } = await ask(bundle());
    expect(status).toBe(200);
    expect(body).toMatchObject({
      phase: 'valid',
      license: {
        license_id: 'license-1',
        max_protected_nodes: 1,
        imported_at: new Date(NOW_MS).toISOString(),
        imported_by: 'api-key:key-1',
      },
      banners: [],
      enrollment: { nodes_allowed: null, protected_nodes: 1 },
    });
    const { timeline } = body;
    expect(timeline.map((one: { phase: string }) => one.phase)).toEqual([
      'pending',
      'valid',
      'grace',
      'expired',
    ]);
    expect(timeline.filter((one: { is_current: boolean }) => one.is_current).length).toBe(1);
    expect(await ask()).toEqual({ status: 200, body });
  });

  it('should warn in grace with the days that are left, and alarm after it', async () => {
    const ask = await callerWith(['license:read', 'license:write']);
    await ask(bundle());
    fixture.state.nowMs = NOW_MS + 20 * DAY_MS;
    expect((await ask()).body.banners).toMatchObject([{ reason: 'ending_soon', days_left: 10 }]);
    fixture.state.nowMs = NOW_MS + 30 * DAY_MS;
    expect((await ask()).body).toMatchObject({
      phase: 'grace',
      banners: [{ level: 'warning', reason: 'grace', days_left: 30 }],
      enrollment: { nodes_allowed: null },
    });
    fixture.state.nowMs = NOW_MS + 60 * DAY_MS;
    expect((await ask()).body).toMatchObject({
      phase: 'expired',
      banners: [{ level: 'critical', reason: 'expired', days_left: null }],
      enrollment: { nodes_allowed: 1 },
    });
  });

  it('should be imported by nobody else, and nothing else be imported', async () => {
    const ask = await callerWith(['license:read']);
    expect(await ask(bundle())).toMatchObject({ status: 403, body: { code: 'role_required' } });
    await fixture.close();
    const write = await callerWith(['license:write']);
    expect(await write()).toMatchObject({ status: 403 });
    const bent = { ...bundle(), signature: bundle({ plan: 'other' }).signature };
    expect(await write(bent)).toMatchObject({ status: 422, body: { code: 'license_refused' } });
    expect(await write({ ...bundle(), more: 1 })).toMatchObject({
      status: 422,
      body: { code: 'schema_violation' },
    });
    const ended = { valid_until: new Date(NOW_MS - 2).toISOString() };
    const grace = { grace_until: new Date(NOW_MS).toISOString() };
    expect(await write(bundle({ ...ended, ...grace }))).toMatchObject({
      status: 409,
      body: { code: 'license_ended' },
    });
  });
});
