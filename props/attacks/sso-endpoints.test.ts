// Attack 27, a provider that was taken over: the addresses it names are judged before anybody is sent there. decision: D40
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OidcPeer } from '../peers/oidc-peer.ts';
import { type ConsoleUnderTest, removeSharedKeys } from './console.fixture.ts';
import { openSsoStage, type SsoStage } from './sso-stage.ts';

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
