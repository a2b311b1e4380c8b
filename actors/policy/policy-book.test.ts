// The book follows its store, and the keys in force follow from the statements in it.
import { generateKeyPairSync, sign } from 'node:crypto';
import { expect, it } from 'vitest';
import type { PackDraft } from '../../machines/console/policy/book.rules.ts';
import { rotationMessage } from '../../machines/policy/signing-keys.rules.ts';
import { portOf } from '../../storage/memory/plumbing/unsafe-port-of.ts';
import { policyCalls } from '../../storage/memory/policy/policy-store.ts';
import type { PolicyStore } from '../../storage/ports/policy/policy-store.ts';
import { policyKeyOf } from '../runtime/policy-keys.ts';
import { silentLogger } from '../runtime/silent-logger.ts';
import { createKeyActs } from './key-acts.ts';
import { createPackActs } from './pack-acts.ts';
import { openBook } from './policy-book.ts';

const doing = { actor: 'somebody', from: '', nowMs: 1 };

function newKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const signer = (message: Uint8Array) => sign(null, message, privateKey);
  return { pem, id: policyKeyOf(pem)?.id ?? '', sign: signer };
}

const draft: PackDraft = {
  ...{ mode: 'monitor', modes_allowed: ['monitor'], namespace_scope: null },
  ...{ rollback_to: [], policies: [] },
};

function newStore() {
  const calls = policyCalls({ record: () => undefined, moves: new Map(), fence: () => undefined });
  return portOf<PolicyStore>('policies', calls, async (_, run) => run());
}

it('should follow a database that went back, and take acts again', async () => {
  const [first, restored] = [newStore(), newStore()];
  let current = first;
  const store = new Proxy(first, { get: (_, name) => Reflect.get(current, name) as unknown });
  const book = await openBook({ store, logger: silentLogger });
  const packs = createPackActs({ book, signer: () => null });
  const create = (packId: string) =>
    packs.create({ ...doing, packId, name: packId, flavor: 'standard', draft });
  await create('a');
  await create('b');
  current = restored;
  expect(await create('c')).toMatchObject({ ok: true });
  expect([...book.book().packs.keys()]).toEqual(['c']);
  await create('d');
  // The same revision by other changes.
  current = first;
  book.doubt();
  await book.follow();
  expect([...book.book().packs.keys()]).toEqual(['a', 'b']);
});

it('should verify the chain of keys again only when a statement came', async () => {
  const book = await openBook({ store: newStore(), logger: silentLogger });
  const [own, next] = [newKey(), newKey()];
  const keys = createKeyActs({ book, signer: () => null, logger: silentLogger });
  const packs = createPackActs({ book, signer: () => null });
  await keys.begin({ publicKeyPem: own.pem, nowMs: 1 });
  const first = book.keys();
  const pack = { packId: 'p', name: 'a pack', flavor: 'standard', draft } as const;
  expect(await packs.create({ ...doing, ...pack })).toMatchObject({ ok: true });
  expect(book.book().packs.size).toBe(1);
  expect(book.keys()).toBe(first);
  const statement = {
    ...{ sequence: 1, new_key_pem: next.pem, retired_key_ids: [own.id], by_key_id: own.id },
  };
  const signature = Buffer.from(own.sign(rotationMessage(statement))).toString('base64');
  const rotated = { ...doing, statement: { ...statement, signature } };
  expect(await keys.rotate(rotated)).toMatchObject({ ok: true });
  expect(book.keys().trusted.keys.map(({ id }) => id)).toEqual([next.id]);
});
