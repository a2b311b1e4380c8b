// What is signed of a policy, and what a node does with a sidecar or without one. The name is part of what is signed, so
// a policy under another name does not verify. decision: D45

/** The names a policy may have: nothing that could leave a folder or hide a line's end in what is signed. */
export const POLICY_NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;
const PREFIX = 'service-policy-v1:';

/** The bytes a policy's signature is made over. Throws on a name that is none: it would be ambiguous. */
export function policyMessage(name: string, yaml: Uint8Array): Uint8Array {
  if (!POLICY_NAME.test(name)) throw new Error('a policy with such a name is not signed');
  const head = new TextEncoder().encode(`${PREFIX}${name}\n`);
  const message = new Uint8Array(head.length + yaml.length);
  message.set(head);
  message.set(yaml, head.length);
  return message;
}

export type SidecarCase = 'verify' | 'take_and_warn' | 'take' | 'refuse' | 'refuse_unsigned';

/** A sidecar is always verified, so without a key it is refused; a policy without one is taken, with a word where the
 * node has a key to verify with. Where the node is `strict`, it is not taken. */
export function sidecarCase(has: {
  readonly sidecar: boolean;
  readonly key: boolean;
  readonly strict?: boolean;
}): SidecarCase {
  if (has.sidecar) return has.key ? 'verify' : 'refuse';
  if (has.strict === true) return 'refuse_unsigned';
  return has.key ? 'take_and_warn' : 'take';
}
