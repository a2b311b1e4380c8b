// Attack 31 through a provider: who gets in with one factor where two are needed, with a login of yesterday, or with a
// proof that is no proof. decision: D63; invariant: I18
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { evidenceIn } from '../../machines/console/access/sso-login.rules.ts';
import type { OidcPeer } from '../peers/oidc-peer.ts';
import { type ConsoleUnderTest, removeSharedKeys } from './console.fixture.ts';
import { createBrowser } from './person.ts';
import { codeOfApp } from './person-with-app.ts';
import { ANN, openSsoStage, SESSION, type SsoStage } from './sso-stage.ts';

let stage: SsoStage;
let peer: OidcPeer;
let console: ConsoleUnderTest;
beforeAll(async () => {
  stage = await openSsoStage();
  ({ peer } = stage);
});
afterAll(async () => {
  await stage.close();
  await removeSharedKeys();
});
beforeEach(async () => {
  console = await stage.renew(false);
});
afterEach(() => console.stop());

let people = 0;
async function enter(options: Record<string, unknown>, claims: Record<string, unknown> = {}) {
  const id = await stage.setUp(peer, options);
  people += 1;
  peer.logsIn(`ann-${people}`, { ...ANN, email: `ann-${people}@example.org` });
  // In the signed token, where the proof has to be.
  peer.does.token = (told) => ({
    ...told,
    acr: undefined,
    amr: undefined,
    auth_time: undefined,
    ...claims,
  });
  const browser = stage.newBrowser();
  const page = await stage.logIn(browser, id);
  const own = createBrowser(console);
  own.plant(browser.cookie('localhost:0', SESSION));
  return { page, own, standing: (await own.get('/auth/session')).body };
}

it('should ask the local factor where the provider proved none, and set one up', async () => {
  const { own, standing } = await enter({});
  expect(standing).toMatchObject({ stage: 'partial', needs: 'totp_enrollment', scopes: [] });
  expect((await own.get('/sensors')).body['code']).toBe('second_factor_required');
  const begun = await own.post('/auth/mfa/enroll', {});
  const code = codeOfApp(String(begun.body['secret']), console.time.now());
  const on = await own.post('/auth/mfa/confirm', { code });
  expect(on.body).toMatchObject({ stage: 'full', needs: null });
  expect((await own.get('/sensors')).status).toBe(200);
});

it('should set none up in a session that was whole before one was needed', async () => {
  const { own, standing } = await enter({ group_roles: { ops: 'viewer' } });
  expect(standing).toMatchObject({ stage: 'full', needs: null });
  const values = { mfa_required_roles: ['viewer'] };
  await console.settings.change({ actor: 't', values, revisions: { mfa_required_roles: 0 } });
  expect((await own.get('/sensors')).body['code']).toBe('second_factor_required');
  expect((await own.post('/auth/mfa/enroll', {})).body['code']).toBe('credential_invalid');
  expect((await own.get('/auth/session')).status).toBe(401);
});

it('should take the proof that was asked for, and no other', async () => {
  const required = { required_amr: ['mfa', 'hwk'], required_acr: ['urn:two'] };
  for (const [claims, needs] of [
    [{ amr: ['pwd', 'mfa', 'hwk'] }, null],
    [{ acr: 'urn:two' }, null],
    [{ amr: ['mfa'] }, 'totp_enrollment'],
    [{ acr: 'urn:one', amr: 'mfa hwk' }, 'totp_enrollment'],
    [{}, 'totp_enrollment'],
  ] as const) {
    expect([claims, (await enter(required, claims)).standing['needs']]).toEqual([claims, needs]);
  }
});

it('should ask it of everybody where the provider had to prove it', async () => {
  const viewer = { group_roles: { ops: 'viewer' } };
  expect((await enter({ ...viewer, required_amr: ['mfa'] })).standing['needs']).toBe(
    'totp_enrollment',
  );
});

it('should let no login in that is too old, or that does not say how old it is', async () => {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const asked = { max_age_seconds: 600, required_amr: ['mfa'] };
  const amr = ['mfa'];
  for (const claims of [{ amr }, { amr, auth_time: nowSeconds - 3_600 }]) {
    const { page, standing } = await enter(asked, claims);
    expect([page.status, standing['code']]).toEqual([403, 'credential_required']);
  }
  const { standing } = await enter(asked, { amr, auth_time: nowSeconds - 60 });
  expect(standing).toMatchObject({ stage: 'full', needs: null });
  expect(evidenceIn({ auth_time: '1' }, { maxAgeSeconds: 1 }, 0)).toBeNull();
});
