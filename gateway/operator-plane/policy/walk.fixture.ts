// Packs, what is assigned, and the keys that sign; the key moves to one that lies elsewhere at the end.
import { generateKeyPairSync, sign } from 'node:crypto';
import { policyKeyOf } from '../../../actors/runtime/policy-keys.ts';
import { signPack } from '../../../actors/runtime/policy-pack.ts';
import { rotationMessage } from '../../../machines/policy/signing-keys.rules.ts';
import type { PackHead } from '../../../machines/wire/policy.ts';
import type { Walk } from '../plumbing/walk.fixture.ts';

export const policy: Walk = async ({ step, sensorId }) => {
  const yaml = `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata: {name: one}
spec:
  kprobes: [{call: sys_openat, syscall: true, args: [{index: 1, type: string}]}]
`;
  const policies = [{ name: 'one', yaml }];
  const terms = {
    mode: 'monitor',
    modes_allowed: ['monitor', 'enforce'],
    namespace_scope: null,
  } as const;
  const draft = { ...terms, rollback_to: [], policies };
  const pack = await step('POST', '/packs', { name: 'night watch', draft });
  const id = String(pack.body['pack_id']);
  await step('PUT', '/packs/:id/draft', { revision: 1, draft }, { id });
  await step('POST', '/packs/:id/publish', {}, { id });
  const assigned = { target: { kind: 'sensor', id: sensorId }, pack_id: id, version: 1 };
  const held = await step('POST', '/assignments', { ...assigned, mode: 'monitor' });
  const own = { id: sensorId };
  const rehearsed = { assignment_id: held.body['assignment_id'] };
  await step('POST', '/assignments/:kind/:target/enforce', rehearsed, own);
  await step('PUT', '/sensors/:id/policy/custom', { policies }, own);
  await step('PUT', '/sensors/:id/policy/enforcement', { mode: 'monitor' }, own);
  await step('DELETE', '/assignments/:kind/:target', undefined, own);
  await step('POST', '/policies/sign', policies[0]);
  const started = { ...assigned, mode: 'monitor', stages: [{ percent: 100, wait_seconds: 60 }] };
  const rollout = await step('POST', '/rollouts', started);
  const under = { id: String(rollout.body['rollout_id']) };
  for (const word of ['pause', 'resume', 'abort']) {
    await step('POST', `/rollouts/:id/${word}`, undefined, under);
  }

  const [elsewhere, next] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
  const pemOf = ({ publicKey }: typeof next) =>
    publicKey.export({ format: 'pem', type: 'spki' }).toString();
  await step('POST', '/signing-keys', { public_key_pem: pemOf(elsewhere) });
  const signed = (bytes: Uint8Array) => sign(null, bytes, elsewhere.privateKey);
  const named: PackHead = {
    ...{ pack_id: crypto.randomUUID(), version: 1, name: 'from elsewhere', flavor: 'standard' },
    ...{ ...terms, modes_allowed: ['monitor'], rollback_to: [] },
  };
  await step('POST', '/packs/signed', { pack: signPack(named, policies, signed) });
  const by_key_id = policyKeyOf(pemOf(elsewhere))?.id ?? '';
  const rest = { sequence: 2, new_key_pem: pemOf(next), retired_key_ids: [], by_key_id };
  const signature = signed(rotationMessage(rest)).toString('base64');
  await step('POST', '/signing-keys/rotations', { ...rest, signature });
};
