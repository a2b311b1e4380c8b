// The resource `settings` by example: who may see and change, and how a change is refused.
import { afterEach, describe, expect, it } from 'vitest';
import { ROLES } from '../../../machines/trust/roles.rules.ts';
import { createFixture, type Fixture } from '../plumbing/operator-plane.fixture.ts';

let fixture: Fixture;
afterEach(() => fixture.close());

async function callerWith(scopes: readonly string[]) {
  fixture = await createFixture();
  const authorization = `Bearer ${fixture.addKey(scopes)}`;
  return async (body?: object) => {
    const answer = await fixture.app.inject({
      method: body === undefined ? 'GET' : 'PATCH',
      url: '/api/v2/settings',
      headers: { authorization },
      ...(body === undefined ? {} : { payload: body }),
    });
    return { status: answer.statusCode, body: answer.json() };
  };
}
const find = (body: { items: { name: string }[] }, name: string) =>
  body.items.find((one) => one.name === name);

describe('the settings', () => {
  it('should be shown with their defaults and what their values look like', async () => {
    const ask = await callerWith(['settings:read']);
    const { status, body } = await ask();
    expect(status).toBe(200);
    expect(find(body, 'analytics_retention_days')).toEqual({
      ...{ name: 'analytics_retention_days', value: 90, default: 90, revision: 0 },
      ...{
        applies: 'live',
        about: 'How long runtime events, and all else in the analytics database, are kept.',
      },
      schema: { type: 'integer', minimum: 1, maximum: 3_650 },
      ...{ changed_at: null, changed_by: null },
    });
    expect(find(body, 'federation_role')).toMatchObject({
      ...{ applies: 'waiting', about: expect.stringContaining('does not act on it yet') },
    });
  });

  it('should be changed by whoever may, and by nobody else', async () => {
    const ask = await callerWith(['settings:read', 'settings:write']);
    const change = {
      values: { analytics_retention_days: 30, mfa_required_roles: [...ROLES] },
      revisions: { analytics_retention_days: 0, mfa_required_roles: 0 },
    };
    const { status, body } = await ask(change);
    expect(status).toBe(200);
    expect(find(body, 'analytics_retention_days')).toMatchObject({
      ...{ value: 30, default: 90, revision: 1, changed_by: 'api-key:key-1' },
    });
    expect(fixture.settings.get().mfaRequiredRoles).toEqual(ROLES);
    expect(await ask(change)).toMatchObject({ status: 409, body: { code: 'settings_conflict' } });
    await fixture.close();
    const reader = await callerWith(['settings:read']);
    expect(await reader(change)).toMatchObject({ status: 403, body: { code: 'role_required' } });
  });

  it('should name every mistake by its place', async () => {
    const ask = await callerWith(['settings:write']);
    const refused = await ask({
      values: { client_certificate_ttl_hours: 24, renewal_threshold_seconds: 900_000, other: 1 },
      revisions: { client_certificate_ttl_hours: 0, renewal_threshold_seconds: 0 },
    });
    expect(refused.status).toBe(422);
    expect(refused.body.code).toBe('schema_violation');
    const pointers = refused.body.errors.map((one: { pointer: string }) => one.pointer);
    expect(pointers.sort()).toEqual([
      '/revisions/other',
      '/values/client_certificate_ttl_hours',
      '/values/other',
      '/values/renewal_threshold_seconds',
    ]);
    expect(await ask({ values: {} })).toMatchObject({ status: 422 });
    expect(await ask({ values: { a: 1 }, revisions: { a: 0 }, more: 1 })).toMatchObject({
      status: 422,
    });
  });
});
