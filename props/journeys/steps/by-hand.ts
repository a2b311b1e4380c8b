// What lies on a node's disk, and what a Console answers, judged with `node:crypto` and nothing of the product: keys,
// statements about keys, packs. Every function says what is wrong, or gives what is there.
import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Json = Readonly<Record<string, unknown>>;
export type Statement = {
  readonly sequence: number;
  readonly new_key_pem: string;
  readonly retired_key_ids: readonly string[];
  readonly by_key_id: string;
  readonly signature: string;
};
export type Pack = Json & {
  readonly pack_id: string;
  readonly version: number;
  readonly policies: readonly {
    readonly name: string;
    readonly yaml: string;
    readonly signature: string;
  }[];
  readonly manifest_signature: string;
};
/** What a node has of a pack. */
export type HeldPack = { readonly version: number; readonly texts: readonly string[] };

const HEAD = 'pack_id version name flavor mode modes_allowed namespace_scope rollback_to'.split(
  ' ',
);

export const digestOf = (text: string | Uint8Array): string =>
  createHash('sha256').update(text).digest('hex');

/** The id of a public key in PEM. */
export function keyIdOf(pem: string): string {
  const der = createPublicKey(pem).export({ type: 'spki', format: 'der' });
  return digestOf(der).slice(0, 16);
}

/** Members in the order of their names, whatever was written down in which order. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, one]) => `${JSON.stringify(name)}:${canonical(one)}`).join(',')}}`;
}

function isSigned(text: string, signature: string, pems: readonly string[]): boolean {
  const bytes = Buffer.from(signature, 'base64');
  return pems.some((pem) => verify(null, Buffer.from(text), createPublicKey(pem), bytes));
}

/** The blocks of a file of keys. Throws when something of it is no key. */
export function pemsOf(text: string): readonly string[] {
  const blocks = text.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----\n/g) ?? [];
  if (blocks.join('') !== text) throw new Error(`not only keys: ${JSON.stringify(text)}`);
  for (const one of blocks) createPublicKey(one);
  return blocks;
}

const messageOf = ({ signature: _, ...rest }: Statement): string =>
  `service-policy-key-v1:${canonical(rest)}`;

/** A statement by one key about the next. */
export function statementBy(
  by: { readonly key: KeyObject; readonly pem: string },
  what: Omit<Statement, 'by_key_id' | 'signature'>,
): Statement {
  const rest = { ...what, by_key_id: keyIdOf(by.pem), signature: '' };
  return {
    ...rest,
    signature: sign(null, Buffer.from(messageOf(rest)), by.key).toString('base64'),
  };
}

/** The keys after a chain of statements. Throws when one does not follow, or is not signed by a key that counts then. */
export function keysAfter(first: string, statements: readonly Statement[]): readonly string[] {
  let pems = [first];
  for (const [place, one] of statements.entries()) {
    if (one.sequence !== place + 1) throw new Error(`statement ${one.sequence} at ${place}`);
    const by = pems.filter((pem) => keyIdOf(pem) === one.by_key_id);
    if (!isSigned(messageOf(one), one.signature, by)) throw new Error(`${one.sequence} is forged`);
    pems = pems.filter((pem) => !one.retired_key_ids.includes(keyIdOf(pem)));
    pems.push(one.new_key_pem);
  }
  return pems;
}

/** The SHA-256 of a pack's manifest. Throws when the pack is not signed as a whole by these keys. */
export function verifiedPack(pack: Pack, pems: readonly string[]): string {
  for (const { name, yaml, signature } of pack.policies) {
    const text = `service-policy-v1:${name}\n${yaml}`;
    if (!isSigned(text, signature, pems)) throw new Error(`${name} is not signed`);
  }
  const head = Object.fromEntries(HEAD.map((name) => [name, pack[name]]));
  const policies = pack.policies.map(({ name, yaml }) => ({ name, sha256: digestOf(yaml) }));
  const manifest = canonical({ ...head, policies });
  if (!isSigned(`service-pack-v1:${manifest}`, pack.manifest_signature, pems)) {
    throw new Error('the manifest is not signed');
  }
  return digestOf(manifest);
}

/** The keys that a node trusts, with the number of the statement it followed last. */
export function keysOn(stateDir: string): {
  readonly pems: readonly string[];
  readonly sequence: number;
} {
  const pems = pemsOf(readFileSync(join(stateDir, 'policy-signing.pub'), 'utf8'));
  const file = join(stateDir, 'policy-keys.json');
  const record = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Json) : {};
  return { pems, sequence: Number(record['sequence'] ?? 0) };
}

/** What is to be in force by a node's disk alone; null before the first pack. Throws when it is not whole or not signed. */
export function packOn(stateDir: string): HeldPack | null {
  const file = join(stateDir, 'assigned-pack.json');
  if (!existsSync(file)) return null;
  const record = JSON.parse(readFileSync(file, 'utf8')) as Json;
  const sha256 = String(record['manifest_sha256']);
  const body = readFileSync(join(stateDir, 'policy-packs', `pack-${sha256}.json`), 'utf8');
  const pack = JSON.parse(body) as Pack;
  const { pems } = keysOn(stateDir);
  if (verifiedPack(pack, pems) !== sha256) throw new Error('it is another pack');
  if (pack.version !== record['version'] || pack.pack_id !== record['pack_id']) {
    throw new Error(`the record has version ${record['version']}, the pack ${pack.version}`);
  }
  const highest = (record['highest'] as Record<string, { version: number }>)[pack.pack_id];
  if (highest?.version !== pack.version) throw new Error('its highest version is another one');
  return { version: pack.version, texts: pack.policies.map(({ yaml }) => yaml) };
}

/** The digests of the policies in the file that an engine reads; null before there is one. */
export function givenOn(stateDir: string): readonly string[] | null {
  const file = join(stateDir, 'run', 'policies');
  if (!existsSync(file)) return null;
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/^policy \S+ \S+ (\S+)$/gm)].map(([, digest = '']) => digest);
}

/** The copies that lie there for people, each a text that was published. */
export function copiesOn(stateDir: string): readonly string[] {
  const folder = join(stateDir, 'compiled-policies');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => readFileSync(join(folder, name), 'utf8'));
}
