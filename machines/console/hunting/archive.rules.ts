// The archive of an investigation: which files it has, what is signed, and how it is judged by somebody who has nothing of
// the Console but a key. Everything in it came from elsewhere, so every name and number is judged before it is used.
// decision: D143

export const ARCHIVE_FORMAT = 'service-investigation-v1';
export const MANIFEST = 'manifest.json';
export const SIGNATURE = 'manifest.sig';
export const PUBLIC_KEY = 'public-key.pem';
/** What the manifest does not list: itself, and what proves it. */
const UNLISTED: ReadonlySet<string> = new Set([MANIFEST, SIGNATURE, PUBLIC_KEY]);
const FILES_MAX = 64;
const NAME = /^[a-z0-9][a-z0-9.-]{0,99}$/;
const SHA256 = /^[0-9a-f]{64}$/;

export type ArchiveFile = {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
};
export type ArchiveManifest = {
  readonly format: typeof ARCHIVE_FORMAT;
  readonly investigation_id: string;
  readonly name: string;
  readonly exported_at: string;
  readonly exported_by: string;
  readonly files: readonly ArchiveFile[];
};

/** The manifest in a text; null when it is none. */
export function manifestIn(text: string): ArchiveManifest | null {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(read) || read['format'] !== ARCHIVE_FORMAT) return null;
  const { investigation_id, name, exported_at, exported_by, files } = read;
  const texts = [investigation_id, name, exported_at, exported_by];
  if (!texts.every((one) => typeof one === 'string')) return null;
  if (!Array.isArray(files) || files.length > FILES_MAX || !files.every(isFile)) return null;
  if (new Set(files.map((file) => file.name)).size !== files.length) return null;
  return read as ArchiveManifest;
}

/** What is wrong with files beside a manifest whose signature is good; null when nothing is. */
export function faultOf(
  manifest: ArchiveManifest,
  found: ReadonlyMap<string, { readonly bytes: number; readonly sha256: string }>,
): string | null {
  const listed = new Map(manifest.files.map((file) => [file.name, file]));
  for (const name of found.keys()) {
    if (!UNLISTED.has(name) && !listed.has(name)) return `${name} is not in the manifest`;
  }
  for (const { name, bytes, sha256 } of manifest.files) {
    const there = found.get(name);
    if (there === undefined) return `${name} is missing`;
    if (there.bytes !== bytes || there.sha256 !== sha256) return `${name} was changed`;
  }
  return null;
}

function isFile(value: unknown): value is ArchiveFile {
  if (!isRecord(value)) return false;
  const { name, bytes, sha256 } = value;
  return (
    typeof name === 'string' &&
    NAME.test(name) &&
    !UNLISTED.has(name) &&
    Number.isSafeInteger(bytes) &&
    Number(bytes) >= 0 &&
    typeof sha256 === 'string' &&
    SHA256.test(sha256)
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
