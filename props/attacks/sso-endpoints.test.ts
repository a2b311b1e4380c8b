// Attack 27, a provider that was taken over: the addresses it names are judged before anybody is sent there. decision: D40
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OidcPeer } from '../peers/oidc-peer.ts';
import { type ConsoleUnderTest, removeSharedKeys } from './console.fixture.ts';
import { addPerson } from './person.ts';
import { ANN, codeOf, openSsoStage, SESSION, type SsoStage } from './sso-stage.ts';

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
  console = await stage.renew();
});
afterEach(() => console.stop());

describe('attack 27: a provider that an admin changes while somebody comes back from it', () => {
  it.each([{ enabled: false }, { options: { groupRoles: { ops: 'viewer' as const } } }, null])(
    'should let nobody in by what it was before: %o',
    async (patch) => {
      const id = await stage.setUp(peer, { group_roles: { ops: 'admin' } });
      const { sso, users } = console.stores.relational;
      const doing = { actor: 'test', nowMs: console.time.now(), providerId: id };
      const before = await sso.getProvider(id);
      // The provider takes its time with the answer, and the admin is done before it.
      peer.does.meanwhile = async () => {
        const options = before === null ? undefined : { ...before.options, ...patch?.options };
        if (patch === null) await sso.removeProvider(doing);
        else if (options !== undefined) {
          await sso.changeProvider({ ...doing, revision: 1, patch: { ...patch, options } });
        }
      };
      const browser = stage.newBrowser();
      const page = await stage.logIn(browser, id);
      expect(codeOf(page)).toEqual([403, 'sso_answer_refused']);
      expect(browser.cookie('localhost:0', SESSION)).toBeNull();
      expect(await users.findByEmail('ann@example.org')).toBeNull();
    },
  );
});

describe('attack 27: a token and a user-info answer that speak of two addresses', () => {
  it('should not take the proof of one of them for the other', async () => {
    const id = await stage.setUp(peer, { link_domains: ['example.org'] });
    const victim = await addPerson(console, 'operator', 'victim@example.org');
    // The user-info endpoint is asked for the groups, and knows a verified address of its own.
    peer.logsIn('ann', { ...ANN, email: 'mallory@example.org' });
    peer.does.token = ({ email_verified: _, groups: _groups, ...claims }) => ({
      ...claims,
      email: victim.email,
    });
    const page = await stage.logIn(stage.newBrowser(), id);
    expect(codeOf(page)).toEqual([403, 'sso_email_refused']);
    // Nor the other way round: a token that says verified, of whatever.
    peer.logsIn('ann', { ...ANN, email: victim.email, email_verified: false });
    peer.does.token = ({ email: _, groups: _groups, ...claims }) => ({
      ...claims,
      email_verified: true,
    });
    expect(codeOf(await stage.logIn(stage.newBrowser(), id))).toEqual([403, 'sso_email_refused']);
    // Where both mean the same, what one of them lacks is taken from the other.
    peer.logsIn('ann', { ...ANN, email: victim.email });
    peer.does.token = ({ email_verified: _, groups: _groups, ...claims }) => claims;
    expect((await stage.logIn(stage.newBrowser(), id)).status).toBe(303);
  });
});

describe('attack 27: a provider that names addresses nobody should use', () => {
  it.each(['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'])(
    'should be told so by the test of the provider, and lead nobody anywhere: %s',
    async (name) => {
      const id = await stage.setUp(peer);
      const { secret } = await console.newKey(['admin']);
      const headers = { authorization: `Bearer ${secret}` };
      const test = () => console.ask(null, `/api/v2/sso-providers/${id}/test`, {}, { headers });
      try {
        for (const address of [
          'javascript:alert(1)',
          'http://id.example.org/x',
          'data:,x',
          '//x',
          7,
        ]) {
          peer.does.discovery = (metadata) => ({ ...metadata, [name]: address });
          const { body } = await test();
          expect([address, body['is_working']]).toEqual([address, false]);
          expect(body['authorization_endpoint']).toBeNull();
          expect(body['detail']).toContain(name);
        }
      } finally {
        peer.does.discovery = null;
      }
      expect((await test()).body['is_working']).toBe(true);
    },
  );
});
