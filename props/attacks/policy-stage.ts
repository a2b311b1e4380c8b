// What attacks on policies begin with: policies and drafts, an operator who may do everything, and nodes with the keys that
// they were given.
import type { ConsoleUnderTest } from './console.fixture.ts';
import { enrollBody, type Identity, type KeyPair, pemOf } from './peer.ts';

export const policyOf = (name: string, path = '/etc/shadow') => ({
  name,
  yaml: `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata: {name: ${name}}
spec:
  kprobes:
    - call: sys_openat
      syscall: true
      args: [{index: 1, type: string}]
      selectors: [{matchArgs: [{index: 1, operator: Equal, values: [${path}]}]}]
`,
});
export const draftOf = (policies: readonly unknown[], more = {}) => ({
  ...{ mode: 'monitor', modes_allowed: ['monitor', 'enforce'] },
  ...{ namespace_scope: null, rollback_to: [], policies, ...more },
});

/** Calls of the API by the holder of a key. */
export function apiOf(console: Pick<ConsoleUnderTest, 'ask'>, secret: string) {
  const headers = { authorization: `Bearer ${secret}` };
  return async (method: string, path: string, body?: unknown) => {
    const answer = await console.ask(null, `/api/v2${path}`, body, { method, headers });
    return { status: answer.status, code: answer.body['code'], body: answer.body };
  };
}

/** Enrolls a node; it trusts what it is given then. */
export async function enrollNode(
  console: Pick<ConsoleUnderTest, 'ask' | 'newToken'>,
  name: string,
  pair: KeyPair,
): Promise<{ readonly identity: Identity; readonly trustedPem: string }> {
  const body = enrollBody(await console.newToken(), name, pair);
  const answer = await console.ask(null, '/sensors/enroll', body);
  const identity = {
    sensorId: String(answer.body['sensor_id']),
    cert: String(answer.body['control_plane_certificate_pem']),
    key: pemOf(pair),
  };
  return { identity, trustedPem: String(answer.body['policy_signing_public_key_pem']) };
}
