// The keys a node trusts: only a statement that one of them signed changes them, numbers only rise, and what is retired
// never returns. Real keys, real signatures. decision: D81
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  keysDigestOf,
  type PolicyKey,
  policyKeyOf,
  policyKeysOf,
  signerOf,
  verifyRotation,
} from '../../actors/runtime/policy-keys.ts';
import { SIGNING_KEYS_MAX } from '../../machines/policy/limits.ts';
import { rotationMessage, type TrustedKeys } from '../../machines/policy/signing-keys.rules.ts';
import { parseJson, parserOfValue } from '../../machines/wire/parse.ts';
import { KeyRotation } from '../../machines/wire/policy.ts';

const parseRotation = parserOfValue(KeyRotation);

type Pair = PolicyKey & { readonly secret: KeyObject };
function makePair(): Pair {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = policyKeyOf(publicKey.export({ type: 'spki', format: 'pem' }).toString());
  if (key === null) throw new Error('a fresh key is none');
  return { ...key, secret: privateKey };
}
const PAIRS: readonly Pair[] = Array.from({ length: 5 }, makePair);
const pair = (at: number): Pair => {
  const found = PAIRS[at];
  if (found === undefined) throw new Error('no such pair');
  return found;
};

function statementOf(
  by: Pair,
  next: Pair,
  sequence: number,
  retired: readonly Pair[] = [],
): KeyRotation {
  const rest = {
    sequence,
    new_key_pem: next.pem,
    retired_key_ids: retired.map(({ id }) => id),
    by_key_id: by.id,
  };
  const signature = sign(null, rotationMessage(rest), by.secret).toString('base64');
  return { ...rest, signature };
}
const trusting = (...pairs: readonly Pair[]): TrustedKeys => ({
  sequence: 0,
  keys: pairs.map(({ id, pem }) => ({ id, pem })),
  retired: [],
});
const idsOf = ({ keys }: TrustedKeys) => keys.map(({ id }) => id).sort();

describe('the keys of a node', () => {
  it('always follow a model of statements, and never trust what no trusted key signed', () => {
    const anyStep = fc.record({
      by: fc.nat(PAIRS.length - 1),
      next: fc.nat(PAIRS.length - 1),
      sequence: fc.integer({ min: 1, max: 8 }),
      retired: fc.uniqueArray(fc.nat(PAIRS.length - 1), { maxLength: 2 }),
      isForged: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 10 }), (steps) => {
        let keys = trusting(pair(0));
        let model = { sequence: 0, trusted: new Set([0]), retired: new Set<number>() };
        for (const { by, next, sequence, retired, isForged } of steps) {
          const good = statementOf(pair(by), pair(next), sequence, retired.map(pair));
          const forged = statementOf(pair((by + 1) % 5), pair(next), sequence, retired.map(pair));
          const statement = isForged ? { ...good, signature: forged.signature } : good;
          const result = verifyRotation(keys, statement);
          const gone = new Set([...model.retired, ...retired]);
          const fits =
            !isForged && sequence > model.sequence && model.trusted.has(by) && !gone.has(next);
          expect(result.ok).toBe(fits);
          if (!result.ok) continue;
          keys = result.keys;
          const left = [...model.trusted, next].filter((one) => !gone.has(one));
          model = { sequence, trusted: new Set(left), retired: gone };
          expect(idsOf(keys)).toEqual([...model.trusted].map((one) => pair(one).id).sort());
        }
      }),
      { numRuns: 60 },
    );
  });

  it('never change by a statement of which any byte is another', () => {
    const statement = statementOf(pair(0), pair(1), 3, [pair(2)]);
    const text = JSON.stringify(statement);
    let tried = 0;
    for (let at = 0; at < text.length; at += 1) {
      const bent = `${text.slice(0, at)}${String.fromCharCode(text.charCodeAt(at) ^ 1)}${text.slice(at + 1)}`;
      const json = parseJson(bent);
      const read = json.ok ? parseRotation(json.value) : json;
      if (!read.ok) continue;
      tried += 1;
      expect(verifyRotation(trusting(pair(0)), read.value).ok, bent).toBe(false);
    }
    expect(tried).toBeGreaterThan(200);
    expect(verifyRotation(trusting(pair(0)), statement).ok).toBe(true);
  });

  it('never are more than their bound', () => {
    let keys = trusting(pair(0));
    for (let sequence = 1; sequence <= SIGNING_KEYS_MAX; sequence += 1) {
      const result = verifyRotation(keys, statementOf(pair(0), makePair(), sequence));
      if (sequence === SIGNING_KEYS_MAX) {
        expect(result).toEqual({ ok: false, code: 'rotation_too_many_keys' });
      } else if (result.ok) keys = result.keys;
    }
    expect(keys.keys).toHaveLength(SIGNING_KEYS_MAX);
  });

  it('always are read from one file, whole or not at all, and named the same in any order', () => {
    const text = `${pair(0).pem}\n# a note\n${pair(1).pem}`;
    expect(policyKeysOf(text).map(({ id }) => id)).toEqual([pair(0).id, pair(1).id]);
    expect(policyKeysOf(text.replace('MCow', 'MCox'))).toEqual([]);
    expect(policyKeysOf('')).toEqual([]);
    const ids = PAIRS.map(({ id }) => id);
    expect(keysDigestOf(ids)).toBe(keysDigestOf([...ids].reverse()));
    expect(keysDigestOf(ids)).not.toBe(keysDigestOf(ids.slice(1)));
  });

  it('always say which of them signed', () => {
    const message = Buffer.from('a message');
    const signature = sign(null, message, pair(1).secret);
    expect(signerOf(signature, message, [pair(0), pair(1)])?.id).toBe(pair(1).id);
    expect(signerOf(signature, message, [pair(0), pair(2)])).toBeNull();
  });
});
