// A differential run of Ed25519: mutated signatures, and whatever the product takes of them is put before everybody else,
// for each place of the product that judges one (`verifiers.ts`). The other direction does not hold, since some take keys
// that the product refuses. Part of `.ci/nightly`; by hand, with COUNT signatures for each that judges itself, a tenth of
// them for those that ask another:
//   node props/fuzz/signatures.ts [COUNT] [SEED]
// decision: D66
import { spawnSync } from 'node:child_process';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ed25519 } from '@noble/curves/ed25519.js';
import { randomOf } from './random.ts';
import { VERIFIERS, type Verifier } from './verifiers.ts';

const { Point } = ed25519;
const ORDER = Point.Fn.ORDER;
/** A point of order 8. */
const T8 = Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a');
/** Texts of y that are no number below the field's order, or of points that few libraries agree about. */
const ODD_POINTS = [
  ...[`01${'00'.repeat(31)}`, `01${'00'.repeat(30)}80`, '00'.repeat(32), `${'00'.repeat(31)}80`],
  ...[`ec${'ff'.repeat(30)}7f`, `ed${'ff'.repeat(30)}7f`, `ee${'ff'.repeat(30)}7f`],
  ...[`ec${'ff'.repeat(31)}`, `ed${'ff'.repeat(31)}`, `ee${'ff'.repeat(31)}`, 'ff'.repeat(32)],
].map((hex) => Buffer.from(hex, 'hex'));

type Random = ReturnType<typeof randomOf>;
export type Signed = {
  readonly how: string;
  readonly signature: Buffer;
  /** What the verifier is handed, and the bytes it takes the signature to be over. */
  readonly content: Buffer;
  readonly message: Buffer;
  readonly key: Buffer;
};
export type Run = {
  readonly cases: number;
  readonly taken: number;
  /** How often each mutation was tried and taken. */
  readonly byMutation: ReadonlyMap<string, { tried: number; taken: number }>;
  /** Cases that the judge takes and somebody else refuses. */
  readonly differing: readonly string[];
};

/** Tries `count` cases of a seed on a verifier; `alsoOpenssl` asks the program as well. */
export async function compareJudges(options: {
  readonly count: number;
  readonly seed: number;
  readonly verifier: Verifier;
  readonly alsoOpenssl?: boolean;
}): Promise<Run> {
  const { count, seed, verifier, alsoOpenssl = false } = options;
  const random = randomOf(`signatures ${seed}`);
  const byMutation = new Map<string, { tried: number; taken: number }>();
  const differing: string[] = [];
  // A process for each: of those that nothing was done to, a few are enough.
  const isAsked = (how: string, n: number) => alsoOpenssl && (how !== 'nothing' || n % 16 === 0);
  let taken = 0;
  for (let n = 0; n < count; n += 1) {
    const made = makeCase(random, verifier.signedBytes);
    const { how, signature, content, message, key } = made;
    const row = byMutation.get(how) ?? { tried: 0, taken: 0 };
    byMutation.set(how, row);
    row.tried += 1;
    if (!(await verifier.takes(signature, content, key))) continue;
    row.taken += 1;
    taken += 1;
    const refusedBy = [
      ...(nodeTakes(made) ? [] : ['node:crypto']),
      ...(nobleTakes(made) ? [] : ['strict noble']),
      ...(isAsked(how, n) && !opensslTakes(made) ? ['openssl'] : []),
    ];
    if (refusedBy.length > 0) {
      const hex = [signature, message, key].map((bytes) => bytes.toString('hex')).join(' ');
      differing.push(`${n} ${how}, refused by ${refusedBy.join(' and ')}: ${hex}`);
    }
  }
  return { cases: count, taken, byMutation, differing };
}

type Mutation = (signed: Parts, random: Random) => Partial<Omit<Signed, 'how' | 'message'>>;
type Parts = Omit<Signed, 'how'> & Pick<Verifier, 'signedBytes'> & { readonly seed: Buffer };

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  nothing: () => ({}),
  'a bit of the signature': ({ signature }, random) => ({ signature: flipped(signature, random) }),
  'a bit of the message': ({ content }, random) => ({ content: flipped(content, random) }),
  'a bit of the key': ({ key }, random) => ({ key: flipped(key, random) }),
  'a small order in R': (parts, random) => crafted(parts, random, { inR: true, inA: false }),
  'a small order in A': (parts, random) => crafted(parts, random, { inR: false, inA: true }),
  'a small order in both': (parts, random) => crafted(parts, random, { inR: true, inA: true }),
  'S and the order': ({ signature }, random) => ({
    signature: Buffer.concat([
      signature.subarray(0, 32),
      bytesOf(numberOf(signature.subarray(32)) + ORDER * BigInt(1 + random.below(7))),
    ]),
  }),
  'an odd R': ({ signature }, random) => ({
    signature: Buffer.concat([oddPoint(random), signature.subarray(32)]),
  }),
  'an odd A': (_, random) => ({ key: oddPoint(random) }),
  'an odd A and R, S of zero': (_, random) => ({
    key: oddPoint(random),
    // Under a key of small order R is mostly nothing.
    signature: Buffer.concat([random.below(4) > 0 ? NOTHING : oddPoint(random), Buffer.alloc(32)]),
  }),
  'another length': ({ signature }, random) => ({
    signature: random.below(2) === 0 ? signature.subarray(1) : Buffer.concat([signature, ZERO]),
  }),
};
const ZERO = Buffer.alloc(1);
const NOTHING = Buffer.from(Point.ZERO.toBytes());
const NAMES = Object.keys(MUTATIONS);

function makeCase(random: Random, signedBytes: Verifier['signedBytes']): Signed {
  const seed = bytesFrom(random, 32);
  const content = bytesFrom(random, random.below(80));
  const key = Buffer.from(ed25519.getPublicKey(seed));
  const message = signedBytes(content, key);
  const signature = Buffer.from(ed25519.sign(message, seed));
  const how = NAMES[random.below(NAMES.length)] ?? 'nothing';
  const parts = { seed, content, key, message, signature, signedBytes };
  const made = { how, signature, content, key, ...MUTATIONS[how]?.(parts, random) };
  return { ...made, message: signedBytes(made.content, made.key) };
}

/** Signs with the secret of a key; R, the key it is checked with, or both carry a component of small order. */
function crafted(
  { seed, content, signedBytes }: Parts,
  random: Random,
  { inR, inA }: { readonly inR: boolean; readonly inA: boolean },
): Pick<Signed, 'signature' | 'key'> {
  const { scalar, point } = ed25519.utils.getExtendedPublicKey(seed);
  const small = () => T8.multiplyUnsafe(BigInt(1 + random.below(7)));
  const r = (numberOf(bytesFrom(random, 32)) % (ORDER - 1n)) + 1n;
  const clean = Point.BASE.multiply(r);
  const R = (inR ? clean.add(small()) : clean).toBytes();
  const A = Buffer.from((inA ? point.add(small()) : point).toBytes());
  const message = signedBytes(content, A);
  const k = numberOf(createHash('sha512').update(R).update(A).update(message).digest()) % ORDER;
  const s = (r + k * scalar) % ORDER;
  return { signature: Buffer.concat([R, bytesOf(s)]), key: A };
}

function nodeTakes({ signature, message, key }: Signed): boolean {
  try {
    return verify(null, message, publicKeyOf(key), signature);
  } catch {
    return false;
  }
}

function nobleTakes({ signature, message, key }: Signed): boolean {
  try {
    return ed25519.verify(signature, message, key, { zip215: false });
  } catch {
    return false;
  }
}

function opensslTakes({ signature, message, key }: Signed): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'ed25519-'));
  const file = (name: string, bytes: string | Buffer) => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };
  const asked = spawnSync('openssl', [
    ...['pkeyutl', '-verify', '-pubin', '-rawin'],
    ...['-inkey', file('key', publicKeyOf(key).export({ format: 'pem', type: 'spki' }))],
    ...['-in', file('message', message), '-sigfile', file('signature', signature)],
  ]);
  rmSync(folder, { recursive: true });
  if (asked.error !== undefined) throw asked.error;
  // A message of no bytes is none for this program.
  return asked.status === 0 || message.length === 0;
}

function publicKeyOf(key: Buffer) {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.toString('base64url') };
  return createPublicKey({ key: jwk, format: 'jwk' });
}

function flipped(bytes: Buffer, random: Random): Buffer {
  if (bytes.length === 0) return Buffer.from([random.below(256)]);
  const copy = Buffer.from(bytes);
  const at = random.below(copy.length);
  copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
  return copy;
}

function oddPoint(random: Random): Buffer {
  const times = random.below(8 + ODD_POINTS.length);
  if (times === 0) return Buffer.from(Point.ZERO.toBytes());
  if (times < 8) return Buffer.from(T8.multiplyUnsafe(BigInt(times)).toBytes());
  return ODD_POINTS[times - 8] ?? Buffer.alloc(32);
}

function bytesFrom(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.below(256)));
}

function numberOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex') || '0'}`);
}

function bytesOf(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0').slice(-64), 'hex').reverse();
}

if (import.meta.main) {
  const [count = '100000', seed = String(Date.now() % 1_000_000_007)] = process.argv.slice(2);
  let differing = 0;
  for (const verifier of VERIFIERS) {
    const share = verifier.judgesItself ? 1 : 0.1;
    const asked = { count: Math.ceil(Number(count) * share), seed: Number(seed), verifier };
    const run = await compareJudges({ ...asked, alsoOpenssl: true });
    const each = [...run.byMutation].map(([how, of]) => `${how} ${of.taken} of ${of.tried}`);
    process.stdout.write(
      `${verifier.name}, seed ${seed}: ${run.taken} of ${run.cases} taken (${each.join(', ')})\n`,
    );
    for (const one of run.differing) process.stdout.write(`DIFFERS ${one}\n`);
    differing += run.differing.length;
  }
  process.exitCode = differing === 0 ? 0 : 1;
}
