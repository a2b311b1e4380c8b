// The keys that nodes trust: the Console's own is the first, and every other comes by a statement that a trusted key signed.
// decision: D81
import { createHash } from 'node:crypto';
import { refuse } from '../../machines/errors.ts';
import { KEY_ROTATIONS_MAX } from '../../machines/policy/limits.ts';
import { rotationMessage } from '../../machines/policy/signing-keys.rules.ts';
import type { KeyRotation } from '../../machines/wire/policy.ts';
import type { AuditContext } from '../../storage/ports/plumbing/audit-context.ts';
import type { Logger } from '../runtime/logger.ts';
import { policyKeyOf, verifyRotation } from '../runtime/policy-keys.ts';
import { type SignBytes, signPolicy } from '../runtime/policy-pack.ts';
import { type Acted, type BookService, entryOf } from './policy-book.ts';
import { keysInForce } from './trusted-keys.ts';

const OFFLINE = refuse('signing_offline', 'policy_signing is offline.');

export type KeyActs = {
  /** Takes a statement that was signed elsewhere. */
  rotate(input: AuditContext & { readonly statement: KeyRotation }): Promise<Acted<KeyRotation>>;
  /** Signs a statement with the Console's own key, and takes it. */
  signRotation(
    input: AuditContext & {
      readonly newKeyPem: string;
      readonly retiredKeyIds: readonly string[];
    },
  ): Promise<Acted<KeyRotation>>;
  /** Signs a policy that was judged with the Console's own key; told in the audit log before the signature leaves. */
  signPolicy(
    input: AuditContext & { readonly policy: { readonly name: string; readonly yaml: string } },
  ): Promise<Acted<{ readonly signature: string; readonly keyId: string }>>;
  /** Notes the Console's own key as the first that nodes trust, once. */
  begin(input: Pick<AuditContext, 'nowMs'> & { readonly publicKeyPem: string }): Promise<void>;
};

/** Makes the acts. */
export function createKeyActs(deps: {
  readonly book: BookService;
  readonly signer: () => { readonly keyId: string; readonly sign: SignBytes } | null;
  readonly logger: Logger;
}): KeyActs {
  const { book, signer, logger } = deps;
  const rotate = rotateIn(book);
  return {
    rotate,
    async signRotation({ newKeyPem, retiredKeyIds, ...doing }) {
      const own = signer();
      if (own === null) return OFFLINE;
      const rest = {
        sequence: book.keys().trusted.sequence + 1,
        new_key_pem: newKeyPem,
        retired_key_ids: [...retiredKeyIds],
        by_key_id: own.keyId,
      };
      if (!newKeyPem.isWellFormed()) return refuse('rotation_refused', 'The key is no text.');
      const signature = Buffer.from(own.sign(rotationMessage(rest))).toString('base64');
      return rotate({ ...doing, statement: { ...rest, signature } });
    },
    async signPolicy({ policy, ...doing }) {
      const own = signer();
      if (own === null) return OFFLINE;
      const { signature } = signPolicy(policy, own.sign);
      const sha256 = createHash('sha256').update(policy.yaml).digest('hex');
      const after = { sha256, key_id: own.keyId };
      return book.act(doing.nowMs, () => ({
        ok: true,
        answer: { signature, keyId: own.keyId },
        changes: [],
        audit: [entryOf(doing, { action: 'policy.sign', target: policy.name, after })],
      }));
    },
    async begin({ publicKeyPem, nowMs }) {
      const key = policyKeyOf(publicKeyPem);
      if (key === null || book.book().keyBases.size > 0) return;
      const head = { keyId: key.id, pem: key.pem };
      await book.act(nowMs, (on) =>
        on.keyBases.size > 0
          ? { ok: true, answer: null, changes: [], audit: [] }
          : {
              ok: true,
              answer: null,
              changes: [{ kind: 'key_base', id: key.id, head }],
              audit: [
                entryOf(
                  { actor: 'console', nowMs },
                  { action: 'signing_key.begin', target: key.id, after: { key_id: key.id } },
                ),
              ],
            },
      );
      logger.info({ keyId: key.id }, 'the first key for policies is noted');
    },
  };
}

/** Takes a statement when a key that is trusted now signed it. */
function rotateIn(book: BookService): KeyActs['rotate'] {
  return ({ statement, ...doing }) =>
    book.act(doing.nowMs, (on) => {
      if (on.rotations.size >= KEY_ROTATIONS_MAX) {
        return refuse('bound_reached', `There are ${KEY_ROTATIONS_MAX} statements.`);
      }
      const { trusted } = keysInForce(on);
      const result = verifyRotation(trusted, statement);
      if (!result.ok) return refuse('rotation_refused', `It is refused: ${result.code}.`);
      return {
        ok: true,
        answer: statement,
        changes: [{ kind: 'rotation', id: String(statement.sequence), head: statement }],
        audit: [
          entryOf(doing, {
            action: 'signing_key.rotate',
            target: policyKeyOf(statement.new_key_pem)?.id ?? '',
            before: { key_ids: trusted.keys.map(({ id }) => id) },
            after: { key_ids: result.keys.keys.map(({ id }) => id), by: statement.by_key_id },
          }),
        ],
      };
    });
}
