// Packs and policies as files: a folder with `pack.yaml` and one file for each policy, sidecars, keys in PEM.
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { lstat, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import Type from 'typebox';
import { parse } from 'yaml';
import { type PolicyKey, policyKeyOf, policyKeysOf } from '../../../actors/runtime/policy-keys.ts';
import type { SignBytes } from '../../../actors/runtime/policy-pack.ts';
import { POLICY_FILE_MAX_BYTES } from '../../../machines/policy/limits.ts';
import { parserOfValue } from '../../../machines/wire/parse.ts';
import { PackHead } from '../../../machines/wire/policy.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';

const HEAD_FILE = 'pack.yaml';
const ENDING = '.yaml';
const { pack_id, version, name, flavor, mode, modes_allowed, namespace_scope, rollback_to } =
  PackHead.properties;
const PackFile = Type.Object(
  {
    name,
    /** Needed only where it is signed outside the Console. */
    pack_id: Type.Optional(pack_id),
    version: Type.Optional(version),
    flavor: Type.Optional(flavor),
    mode: Type.Optional(mode),
    modes_allowed: Type.Optional(modes_allowed),
    namespace_scope: Type.Optional(namespace_scope),
    rollback_to: Type.Optional(rollback_to),
  },
  { additionalProperties: false },
);
const checkHead = parserOfValue(PackFile);
export type PackFile = Type.Static<typeof PackFile>;
export type PolicyFile = { readonly name: string; readonly yaml: string };

function unfit(message: string, next = ''): CommandFailure {
  return new CommandFailure(EXIT.usage, message, next);
}

async function readText(path: string): Promise<string> {
  try {
    const { size } = await lstat(path);
    if (size > POLICY_FILE_MAX_BYTES) throw unfit(`${path} is over ${POLICY_FILE_MAX_BYTES} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw unfit(error instanceof Error ? error.message : String(error));
  }
}

/** One policy, named as its file is. */
export async function readPolicyFile(path: string): Promise<PolicyFile> {
  if (!path.endsWith(ENDING)) throw unfit(`${path} does not end with ${ENDING}`);
  return { name: basename(path, ENDING), yaml: await readText(path) };
}

/** A pack's folder: what is said of the pack, and its policies by name. */
export async function readPackFolder(
  folder: string,
): Promise<{ readonly head: PackFile; readonly policies: readonly PolicyFile[] }> {
  const read = checkHead(parse(await readText(join(folder, HEAD_FILE)), { maxAliasCount: 0 }));
  if (!read.ok) {
    const [first] = read.errors ?? [];
    throw unfit(`${HEAD_FILE}: ${first?.pointer ?? ''} ${first?.detail ?? read.detail}`);
  }
  const entries = await readdir(folder);
  const names = entries.filter((one) => one.endsWith(ENDING) && one !== HEAD_FILE).sort();
  if (names.length === 0) throw unfit(`${folder} holds no policy`, 'put NAME.yaml files there');
  const policies = await Promise.all(names.map((one) => readPolicyFile(join(folder, one))));
  return { head: read.value, policies };
}

/** Signs with a private key in PEM. */
export async function readSigner(path: string): Promise<SignBytes> {
  try {
    const key = createPrivateKey(await readText(path));
    if (key.asymmetricKeyType !== 'ed25519') throw unfit(`${path} holds no Ed25519 key`);
    return (message) => sign(null, message, key);
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    const next = 'make one: openssl genpkey -algorithm ed25519 -out FILE';
    throw unfit(`${path} holds no private key`, next);
  }
}

/** The public keys of a PEM file; of a private key its public half. */
export async function readTrusted(path: string): Promise<readonly PolicyKey[]> {
  const text = await readText(path);
  const keys = policyKeysOf(text);
  if (keys.length > 0) return keys;
  try {
    const pem = createPublicKey(text).export({ format: 'pem', type: 'spki' }).toString();
    const key = policyKeyOf(pem);
    if (key !== null) return [key];
  } catch {
    // Said below.
  }
  throw unfit(`${path} holds no Ed25519 key`);
}

export async function writeSidecar(path: string, signature: string): Promise<void> {
  await writeFile(`${path}.sig`, `${signature}\n`);
}

export async function readSidecar(path: string): Promise<string> {
  return (await readText(`${path}.sig`)).trim();
}
