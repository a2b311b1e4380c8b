// An investigation as one file: a tar, compressed, that any tar opens. Its manifest names every file with its digest and is
// signed, so it is judged without the Console: by `service-console investigations verify`, or by openssl and sha256sum as
// its README says. invariant: I7; decision: D66, D143
import { createHash, createPublicKey } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import {
  ARCHIVE_FORMAT,
  type ArchiveManifest,
  faultOf,
  MANIFEST,
  manifestIn,
  PUBLIC_KEY,
  SIGNATURE,
} from '../../machines/console/hunting/archive.rules.ts';
import { filesInTar, type TarFile, tarOf } from '../../machines/console/hunting/tar.ts';
import { INVESTIGATION_ARCHIVE_MAX_BYTES } from '../../machines/limits.ts';
import type { CheckpointSigner } from '../audit/audit-sealer.ts';
import { isSignedBy } from '../runtime/ed25519.ts';
import { type ArchiveContent, archivePage, archiveReadme } from './archive-texts.ts';

const FILES_MAX = 80;
const squeeze = promisify(gzip);
const unsqueeze = promisify(gunzip);

/** Makes the archive; null when it would be larger than one may be. */
export async function archiveOf(
  content: ArchiveContent,
  signer: CheckpointSigner,
): Promise<Uint8Array | null> {
  const { investigation, by, atMs } = content;
  const listed = filesOf(content);
  const manifest: ArchiveManifest = {
    format: ARCHIVE_FORMAT,
    ...{ investigation_id: investigation.id, name: investigation.body.name },
    ...{ exported_at: new Date(atMs).toISOString(), exported_by: by },
    files: listed.map(({ name, content: bytes }) => ({
      ...{ name, bytes: bytes.length, sha256: sha256Of(bytes) },
    })),
  };
  const signed = text(`${JSON.stringify(manifest, null, 2)}\n`);
  const files: readonly TarFile[] = [
    ...listed,
    { name: MANIFEST, content: signed },
    { name: SIGNATURE, content: signer.sign(signed) },
    { name: PUBLIC_KEY, content: text(signer.publicKeyPem) },
  ];
  if (files.reduce((sum, file) => sum + file.content.length, 0) > INVESTIGATION_ARCHIVE_MAX_BYTES) {
    return null;
  }
  return squeeze(tarOf(`investigation-${investigation.id}`, files, atMs));
}

export type ArchiveVerdict =
  | { readonly ok: true; readonly manifest: ArchiveManifest; readonly keySha256: string }
  | { readonly ok: false; readonly reason: string };

/** Judges an archive. With `keyPem` only that key is good; without, its own is, and its digest has to be compared. */
export async function verifyArchive(
  archive: Uint8Array,
  keyPem: string | null = null,
): Promise<ArchiveVerdict> {
  const refused = (reason: string): ArchiveVerdict => ({ ok: false, reason });
  const limit = { maxOutputLength: 2 * INVESTIGATION_ARCHIVE_MAX_BYTES };
  const tar = await unsqueeze(archive, limit).catch(() => null);
  const files = tar === null ? null : filesInTar(tar, FILES_MAX);
  if (files === null) return refused('it is no archive of an investigation');
  const contents = new Map(files.map((file) => [file.name, file.content]));
  const [signed, signature] = [contents.get(MANIFEST), contents.get(SIGNATURE)];
  const own = contents.get(PUBLIC_KEY);
  if (signed === undefined || signature === undefined || own === undefined) {
    return refused('its manifest, its signature or its key is missing');
  }
  const key = keyIn(keyPem ?? Buffer.from(own).toString('utf8'));
  if (key === null) return refused('the key is no Ed25519 public key');
  if (!isSignedBy(key, signed, signature)) {
    return refused('the signature is not good: the manifest was changed, or another key signed it');
  }
  const manifest = manifestIn(Buffer.from(signed).toString('utf8'));
  if (manifest === null) return refused('the manifest cannot be read');
  const fault = faultOf(
    manifest,
    new Map(
      files.map((file) => [
        file.name,
        { bytes: file.content.length, sha256: sha256Of(file.content) },
      ]),
    ),
  );
  if (fault !== null) return refused(fault);
  return { ok: true, manifest, keySha256: sha256Of(key.export({ format: 'der', type: 'spki' })) };
}

function keyIn(pem: string) {
  try {
    const key = createPublicKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? key : null;
  } catch {
    return null;
  }
}

function filesOf(content: ArchiveContent): readonly TarFile[] {
  const { investigation, entries, events } = content;
  const { id, body, createdAtMs, changedAtMs, revision } = investigation;
  const about = { investigation_id: id, ...body, createdAtMs, changedAtMs, revision };
  return [
    { name: 'readme.txt', content: text(archiveReadme(id)) },
    { name: 'index.html', content: text(archivePage(content)) },
    { name: 'investigation.json', content: text(`${JSON.stringify(about, null, 2)}\n`) },
    { name: 'timeline.ndjson', content: lines(entries) },
    { name: 'events.ndjson', content: lines([...events.values()]) },
  ];
}

function lines(all: readonly unknown[]): Uint8Array {
  return text(all.map((one) => `${JSON.stringify(one)}\n`).join(''));
}

function text(of: string): Uint8Array {
  return Buffer.from(of, 'utf8');
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
