// A chain that nobody touched always verifies; whatever is done to a sealed row is found and located. invariant: I17
import { generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkpointBytes, hashOfRow } from '../../actors/audit/audit-hash.ts';
import { verifyTrail } from '../../gateway/cli/audit/audit-verify.ts';
import { GENESIS_HASH } from '../../machines/trust/audit-chain.rules.ts';
import { maskSecrets, maskText } from '../../machines/trust/audit-mask.rules.ts';
import type { AuditCheckpoint, ChainHead } from '../../storage/ports/audit/audit-chain.ts';
import type { AuditRow } from '../../storage/ports/audit/audit-log.ts';
import { anyCharacter } from '../any-character.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const publicKeyPem = String(publicKey.export({ format: 'pem', type: 'spki' }));

type Trail = { rows: AuditRow[]; checkpoints: AuditCheckpoint[] };
type Sealed = AuditRow & ChainHead;

function signed(head: ChainHead, key = privateKey): AuditCheckpoint {
  const one = { ...head, atMs: 5 };
  const signature = sign(null, checkpointBytes(one), key).toString('base64');
  return { ...one, publicKeyPem, signature };
}

function rowAt(index: number): AuditRow {
  return {
    ...{ auditId: index * 3, atMs: index, actor: 'op', action: 'x', target: `t${index}` },
    ...{ result: 'ok', detail: { index }, from: null, before: null, after: null },
    ...{ sequence: null, hash: null },
  };
}

/** A chain over rows, a checkpoint at every fifth, and an open tail. */
function trailOf(count: number, tail: number): Trail {
  const checkpoints: AuditCheckpoint[] = [];
  let head: ChainHead = { sequence: 0, hash: GENESIS_HASH };
  const rows = Array.from({ length: count }, (_, at): AuditRow => {
    const sequence = at + 1;
    const row = rowAt(sequence);
    head = { sequence, hash: hashOfRow(row, { sequence, hash: head.hash }) };
    if (sequence % 5 === 0) checkpoints.push(signed(head));
    return { ...row, ...head };
  });
  const open = Array.from({ length: tail }, (_, at) => rowAt(count + at + 1));
  return { rows: [...rows, ...open], checkpoints };
}

const verify = (trail: Trail, logged: readonly ChainHead[] = [], keyPems: readonly string[] = []) =>
  verifyTrail({ ...trail, unreadable: [] }, { keyPems, logged });
const sealedAt = (trail: Trail, sequence: number): Sealed =>
  trail.rows.find((row) => row.sequence === sequence) as Sealed;
const put = (trail: Trail, sequence: number, row: AuditRow): Trail => ({
  ...trail,
  rows: trail.rows.map((one) => (one.sequence === sequence ? row : one)),
});
/** The chain written anew from a place on, as somebody with the database could. */
function rechained(trail: Trail, from: number): Trail {
  let hash = from === 1 ? GENESIS_HASH : sealedAt(trail, from - 1).hash;
  const rows = trail.rows.map((row) => {
    if (row.sequence === null || row.sequence < from) return row;
    hash = hashOfRow(row, { sequence: row.sequence, hash });
    return { ...row, hash };
  });
  return { ...trail, rows };
}

const sizes = fc.integer({ min: 12, max: 24 });
const cases = sizes.chain((count) =>
  fc.record({
    count: fc.constant(count),
    at: fc.integer({ min: 2, max: count - 3 }),
    tail: fc.nat(4),
  }),
);
const kinds = (trail: Trail) =>
  verify(trail)
    .faults.filter(({ kind }) => !kind.startsWith('checkpoint'))
    .map(({ kind, sequence }) => [kind, sequence]);

describe('audit chain', () => {
  it('always verifies untouched, in any order of its lines, and names the open tail', () => {
    fc.assert(
      fc.property(cases, fc.infiniteStream(fc.nat()), ({ count, tail }, order) => {
        const trail = trailOf(count, tail);
        const rows = trail.rows
          .map((row) => [order.next().value, row] as const)
          .sort(([a], [b]) => a - b)
          .map(([, row]) => row);
        const verdict = verify({ ...trail, rows });
        expect(verdict).toMatchObject({ isIntact: true, sealedRows: count, openTail: tail });
        expect(verdict.signedRows).toBe(count - (count % 5));
      }),
    );
    expect(verify({ rows: [], checkpoints: [] })).toMatchObject({ isIntact: true, openTail: 0 });
  });

  it('always locates one changed row, whatever field was changed', () => {
    const changes = fc.constantFrom<Partial<AuditRow>>(
      { actor: 'y' },
      { atMs: -1 },
      { target: '' },
      { result: 'no' },
      { detail: {} },
      { from: '::1' },
      { before: {} },
      { after: { a: 1 } },
      { auditId: 0 },
      { hash: GENESIS_HASH },
    );
    fc.assert(
      fc.property(cases, changes, ({ count, at, tail }, change) => {
        const trail = trailOf(count, tail);
        const damaged = put(trail, at, { ...sealedAt(trail, at), ...change });
        const found = kinds(damaged);
        expect(found[0]).toEqual(['changed', at]);
        // A hash that was changed breaks the row and the one behind it, nothing else.
        expect(found.length).toBe(change.hash === undefined ? 1 : 2);
      }),
    );
  });

  it('always locates a removed row, its number left out or closed up', () => {
    fc.assert(
      fc.property(cases, fc.boolean(), ({ count, at, tail }, isClosed) => {
        const trail = trailOf(count, tail);
        const rows = trail.rows
          .filter((row) => row.sequence !== at)
          .map((row) =>
            isClosed && row.sequence !== null && row.sequence > at
              ? { ...row, sequence: row.sequence - 1 }
              : row,
          );
        expect(kinds({ ...trail, rows })).toEqual([['removed', at]]);
      }),
    );
  });

  it('always notices that signed rows are gone from the end', () => {
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 6 }), (count, cut) => {
        const trail = trailOf(count, 0);
        const kept = count - cut;
        const newest = count - (count % 5);
        const damaged = { ...trail, rows: trail.rows.slice(0, kept) };
        const verdict = verify(damaged);
        expect(verdict.isIntact).toBe(kept >= newest);
        if (kept < newest)
          expect(verdict.faults).toContainEqual({
            ...{ kind: 'removed', sequence: kept + 1, to: newest, auditId: null },
          });
        const head = sealedAt(trail, count);
        expect(verify(damaged, [{ sequence: count, hash: head.hash }]).isIntact).toBe(false);
      }),
    );
  });

  it('always locates an inserted row, with a number of its own or a stolen one', () => {
    fc.assert(
      fc.property(cases, fc.boolean(), ({ count, at, tail }, isStolen) => {
        const trail = trailOf(count, tail);
        const hash = hashOfRow(rowAt(99), {
          sequence: at,
          hash: sealedAt(trail, at - 1).hash,
        });
        const foreign = { ...rowAt(99), sequence: at, hash: isStolen ? GENESIS_HASH : hash };
        const rows = trail.rows.map((row) =>
          !isStolen && row.sequence !== null && row.sequence >= at
            ? { ...row, sequence: row.sequence + 1 }
            : row,
        );
        const verdict = verify({ ...trail, rows: [...rows, foreign] });
        expect(verdict.isIntact).toBe(false);
        const [first] = verdict.faults;
        expect([at, at + 1]).toContain(first?.sequence);
        if (isStolen) expect(first).toMatchObject({ kind: 'inserted', auditId: foreign.auditId });
      }),
    );
  });

  it('always names two rows that changed places', () => {
    fc.assert(
      fc.property(cases, fc.boolean(), fc.integer({ min: 1, max: 2 }), (drawn, withHash, apart) => {
        const { count, at, tail } = drawn;
        const trail = trailOf(count, tail);
        const [a, b] = [sealedAt(trail, at), sealedAt(trail, at + apart)];
        const swapped = trail.rows.map((row) => {
          if (row === a) return { ...b, sequence: at, hash: withHash ? b.hash : a.hash };
          if (row === b) return { ...a, sequence: at + apart, hash: withHash ? a.hash : b.hash };
          return row;
        });
        const found = kinds({ ...trail, rows: swapped });
        expect(found).toEqual([
          ['reordered', at],
          ['reordered', at + apart],
        ]);
      }),
    );
  });

  it('always catches a chain that was written anew at the next checkpoint', () => {
    fc.assert(
      fc.property(cases, ({ count, at }) => {
        const trail = trailOf(count, 0);
        const changed = put(trail, at, { ...sealedAt(trail, at), actor: 'nobody' });
        const verdict = verify(rechained(changed, at));
        const next = Math.ceil(at / 5) * 5;
        expect(verdict.isIntact).toBe(next > count);
        if (next > count) return;
        expect(verdict.faults[0]).toMatchObject({ kind: 'checkpoint_disagrees', sequence: next });
        expect(verdict.signedRows).toBe(next - 5);
      }),
    );
  });

  it('never believes a checkpoint of another key, a broken one, or one without a key', () => {
    const trail = trailOf(12, 0);
    const [first, ...others] = trail.checkpoints;
    if (first === undefined) throw new Error('there are checkpoints');
    const foreign = generateKeyPairSync('ed25519');
    const pem = String(foreign.publicKey.export({ format: 'pem', type: 'spki' }));
    for (const bad of [
      signed(first, foreign.privateKey),
      { ...first, atMs: 6 },
      { ...first, publicKeyPem: '' },
    ]) {
      const verdict = verify({ ...trail, checkpoints: [bad, ...others] });
      expect(verdict.faults).toMatchObject([{ kind: 'checkpoint_forged', sequence: 5 }]);
    }
    const other = { ...signed(first, foreign.privateKey), publicKeyPem: pem };
    const mixed = { ...trail, checkpoints: [other, ...others] };
    expect(verify(mixed).isIntact).toBe(true);
    expect(verify(mixed, [], [publicKeyPem]).faults).toMatchObject([
      { kind: 'checkpoint_forged', sequence: 5 },
    ]);
    expect(verify(trail, [], [pem, publicKeyPem]).isIntact).toBe(true);
  });
});

describe('audit masks', () => {
  it('never lets a secret through, by its look or by its name', () => {
    const secret = `svck_${'a'.repeat(49)}`;
    const pem = '-----BEGIN PRIVATE KEY-----\nMC4CAQ\n-----END PRIVATE KEY-----';
    const masked = maskSecrets({
      note: `it is ${secret}!`,
      list: [{ password: 'p', new_password: 'q', token_id: 'kept' }],
      pem,
      [secret]: 1,
      hash: null,
    });
    expect(masked).toEqual({
      note: 'it is ***!',
      list: [{ password: '***', new_password: '***', token_id: 'kept' }],
      pem: '***',
      '***': 1,
      hash: null,
    });
    expect(maskText('\ud800')).toBe('\ufffd');
  });

  it('always gives what canonical JSON can say', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue()), (facts) => {
        const masked = maskSecrets(facts);
        expect(JSON.parse(JSON.stringify(masked))).toEqual(masked);
        expect(hashOfRow({ ...rowAt(1), detail: masked }, { sequence: 1, hash: '' })).toMatch(
          /^[0-9a-f]{64}$/,
        );
      }),
    );
  });
});
