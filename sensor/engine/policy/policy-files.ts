// What lies in `compiled-policies/`: each policy with its sidecar, verified by this node before anything reads it. A file
// that others may write, or one whose name is none, is not looked into. Every engine that takes policies takes them from
// here; what one must say inside is judged by each engine for itself. decision: D45
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import {
  POLICIES_MAX,
  POLICY_FILE_MAX_BYTES,
  POLICY_SIDECAR_MAX_BYTES,
  SIGNING_KEYS_MAX_BYTES,
} from '../../../machines/policy/limits.ts';
import { placeOfFile } from '../../../machines/policy/names.rules.ts';
import { POLICY_NAME, sidecarCase } from '../../../machines/trust/policy-signature.rules.ts';
import { errorCode, type Files } from '../../state-directory/file-port.ts';
import { STATE_FILES } from '../../state-directory/identity.ts';
import { whyNotGenuine } from './signature.ts';

export const POLICY_FOLDER = 'compiled-policies';
const ENDING = '.yaml';
const OTHER_ENDINGS = /\.(yml|json)$/;
const WRITABLE_BY_OTHERS = 0o022;

export type FoundPolicy =
  | {
      readonly ok: true;
      readonly name: string;
      readonly yaml: string;
      /** SHA-256 of the YAML. */
      readonly digest: string;
      /** Taken without a signature although this node has a key. */
      readonly isUnsigned: boolean;
      /** Where it came from, when not by hand. */
      readonly from?: 'pack' | 'custom';
      /** It only tells, whatever it says itself. */
      readonly monitors?: boolean;
    }
  | { readonly ok: false; readonly name: string; readonly reason: string };

/** How much one engine takes, and who checks a sidecar. */
export type PolicyBounds = {
  readonly policiesMax: number;
  readonly bytesMax: number;
  readonly whyNotGenuine: typeof whyNotGenuine;
  /** Nothing is taken without a signature. */
  readonly isStrict?: boolean;
};
export const EBPF_BOUNDS: PolicyBounds = {
  policiesMax: POLICIES_MAX,
  bytesMax: POLICY_FILE_MAX_BYTES,
  whyNotGenuine,
};

class Unfit extends Error {}

/** Every policy that somebody laid into the folder by hand, by its name, in their order; an absent folder has none. Copies
 * of what the Console wants are not looked at: those are read where they are kept whole. Never rejects. */
export async function readPolicyFiles(
  files: Files,
  stateDir: string,
  bounds: PolicyBounds = EBPF_BOUNDS,
): Promise<readonly FoundPolicy[]> {
  const folder = join(stateDir, POLICY_FOLDER);
  const entries = await files.list(folder).catch(() => []);
  const names = entries
    .filter((one) => !one.startsWith('.') && (one.endsWith(ENDING) || OTHER_ENDINGS.test(one)))
    .filter((one) => !isCopy(one))
    .sort();
  if (names.length === 0) return [];
  const refused = await whyNotFolder(files, folder);
  if (refused !== undefined) return names.map((one) => refuse(one, refused));
  const key = await readSmall(
    files,
    join(stateDir, STATE_FILES.policyKey),
    SIGNING_KEYS_MAX_BYTES,
  ).catch(() => null);
  const found: FoundPolicy[] = [];
  for (const [place, entry] of names.entries()) {
    if (place < bounds.policiesMax) {
      found.push(await readOne({ files, folder, bounds, keyPem: key?.toString() ?? null }, entry));
    } else {
      found.push(refuse(entry, `more than ${bounds.policiesMax} policies`));
    }
  }
  return found;
}

/** Whether a file is a copy of what the Console wants, by its name: nobody else may use such names. */
export function isCopy(entry: string): boolean {
  const kind = placeOfFile(entry.replace(/(\.yaml)?(\.sig)?$/, ''))?.kind;
  return kind === 'pack' || kind === 'custom';
}

/** Policies laid by hand beside those of the Console. A name of the Console's is not taken by anybody else. */
export function joinedPolicies(
  own: readonly FoundPolicy[],
  wanted: readonly FoundPolicy[],
): readonly FoundPolicy[] {
  const names = new Set(wanted.map(({ name }) => name));
  const beside = own.map(
    (one): FoundPolicy =>
      names.has(one.name)
        ? {
            ok: false,
            name: `${one.name}${ENDING}`,
            reason: 'the Console has one of this name here',
          }
        : one,
  );
  return [...beside, ...wanted];
}

function refuse(entry: string, reason: string): FoundPolicy {
  const name = entry.replace(/\.yaml$/, '').slice(0, 128);
  return { ok: false, name: name.toWellFormed(), reason };
}

async function whyNotFolder(files: Files, folder: string): Promise<string | undefined> {
  const facts = await files.stat(folder).catch(() => null);
  if (facts?.isDirectory !== true) return 'compiled-policies is not a folder';
  if (facts.ownerId !== process.getuid?.()) return 'compiled-policies belongs to another user';
  return (facts.mode & WRITABLE_BY_OTHERS) === 0
    ? undefined
    : 'compiled-policies can be written by others';
}

type Reading = {
  readonly files: Files;
  readonly folder: string;
  readonly bounds: PolicyBounds;
  readonly keyPem: string | null;
};
async function readOne(reading: Reading, entry: string): Promise<FoundPolicy> {
  const { files, folder, bounds, keyPem } = reading;
  const name = entry.slice(0, -ENDING.length);
  if (!entry.endsWith(ENDING)) return refuse(entry, `its file's name must end with ${ENDING}`);
  if (!POLICY_NAME.test(name)) return refuse(entry, "its file's name is no name of a policy");
  try {
    const content = await readSmall(files, join(folder, entry), bounds.bytesMax);
    const sidecar = await readSidecar(files, folder, name);
    const has = { sidecar: sidecar !== null, key: keyPem !== null };
    const what = sidecarCase({ ...has, strict: bounds.isStrict === true });
    if (what === 'refuse_unsigned')
      return refuse(entry, 'it is not signed, and this node is strict');
    if (what === 'refuse') return refuse(entry, 'it has a sidecar, and there is no key to verify');
    if (sidecar !== null && keyPem !== null) {
      const reason = await bounds.whyNotGenuine({ name, yaml: content, sidecar, keyPem });
      if (reason !== undefined) return refuse(entry, reason);
    }
    return {
      ok: true,
      name,
      yaml: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content),
      digest: createHash('sha256').update(content).digest('hex'),
      isUnsigned: what === 'take_and_warn',
    };
  } catch (error) {
    if (error instanceof Unfit) return refuse(entry, error.message);
    const isText = error instanceof TypeError;
    return refuse(entry, isText ? 'it is not UTF-8' : `it cannot be read: ${errorCode(error)}`);
  }
}

/** `name.yaml.sig` or `name.sig`; two of them would leave open which one counts. */
async function readSidecar(files: Files, folder: string, name: string): Promise<string | null> {
  const places = [`${name}${ENDING}.sig`, `${name}.sig`].map((one) => join(folder, one));
  const there = [];
  for (const place of places) if ((await files.stat(place)) !== null) there.push(place);
  if (there.length > 1) throw new Unfit('it has two sidecars');
  const [only] = there;
  if (only === undefined) return null;
  return (await readSmall(files, only, POLICY_SIDECAR_MAX_BYTES)).toString('latin1');
}

// Never through a link, never from a file that others may write, never more than the bound.
async function readSmall(files: Files, path: string, maxBytes: number): Promise<Buffer> {
  const facts = await files.stat(path);
  if (facts === null) throw new Unfit('it is gone');
  if (facts.isDirectory) throw new Unfit('it is not a file');
  // A pipe has no bytes; opening it would wait for ever.
  if (facts.bytes === 0) throw new Unfit('it is empty');
  if (facts.bytes > maxBytes) throw new Unfit(`it has more than ${maxBytes} bytes`);
  if (facts.ownerId !== process.getuid?.()) throw new Unfit('it belongs to another user');
  if ((facts.mode & WRITABLE_BY_OTHERS) !== 0) throw new Unfit('it can be written by others');
  const file = await files.open(path, 'read', 0);
  try {
    const buffer = Buffer.alloc(maxBytes + 1);
    const bytes = await file.read(buffer, 0);
    if (bytes > maxBytes) throw new Unfit(`it has more than ${maxBytes} bytes`);
    return buffer.subarray(0, bytes);
  } finally {
    await file.close();
  }
}
