// Images of CRI-O and Podman: both keep them in one storage, whose list of images is a file. It is read as it lies there,
// since neither tells all of them by a socket that is always open. decision: D76
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { CONTAINER_RUNTIME_ANSWER_MAX_BYTES } from '../../../machines/pipeline-limits.ts';
import { parseJson } from '../../../machines/wire/parse.ts';
import { isObject, listAt, textAt } from '../../pipeline/json-value.ts';
import { type Image, instantOf } from './image-item.ts';

const TEXT_MAX_CHARS = 4_096;
/** By the drivers that a storage may have; it has one. */
const LISTS = ['overlay', 'vfs', 'btrfs', 'zfs'].map((one) => `${one}-images/images.json`);
const HEX_64 = /^[0-9a-f]{64}$/;

/** What this storage holds. Rejects with the reason; ENOENT when it holds no list of images. */
export async function readStorageImages(storage: string): Promise<readonly Image[]> {
  let missing: unknown;
  for (const list of LISTS) {
    try {
      const images = parseStorageImages(await readBounded(join(storage, list)));
      if (images === null) throw new Error(`${list}: not a list of images`);
      return images;
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOENT') throw error;
      missing = error;
    }
  }
  throw missing;
}

/** The content of `images.json`; null when it is no list. What has no id is left out. */
export function parseStorageImages(text: string): readonly Image[] | null {
  const parsed = parseJson(text);
  const list: unknown = parsed.ok ? parsed.value : null;
  if (!Array.isArray(list)) return null;
  return list.filter(isObject).flatMap((one): Image[] => {
    const id = textAt(one, 'id', TEXT_MAX_CHARS);
    if (id === '') return [];
    const names = listAt(one, 'names').filter((name) => typeof name === 'string');
    const createdMs = Date.parse(textAt(one, 'created', 64));
    const createdAt = instantOf(Number.isNaN(createdMs) ? undefined : Math.floor(createdMs / 1000));
    const name = HEX_64.test(id) ? `sha256:${id}` : id;
    return [{ runtime: 'containers_storage', id: name, names, createdAt }];
  });
}

/** Never waits for a writer, as it would for a pipe in the file's place. */
async function readBounded(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw new Error(`${path}: not a file`);
    if (facts.size > CONTAINER_RUNTIME_ANSWER_MAX_BYTES) throw new Error(`${path}: too long`);
    const bytes = Buffer.alloc(facts.size);
    const { bytesRead } = await file.read(bytes, 0, facts.size, 0);
    return bytes.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
