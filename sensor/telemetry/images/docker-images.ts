// Images of a Docker: one list from its socket, over HTTP. decision: D76
import {
  CONTAINER_RUNTIME_ANSWER_MAX_BYTES,
  CONTAINER_RUNTIME_TIMEOUT_MS,
} from '../../../machines/pipeline-limits.ts';
import { parseJson } from '../../../machines/wire/parse.ts';
import { countAt, isObject, listAt, textAt } from '../../pipeline/json-value.ts';
import { type Image, instantOf } from './image-item.ts';

// An import of this module would read all its exports, and with one of them load Node's own fetch.
const { request } = process.getBuiltinModule('node:http');

const TEXT_MAX_CHARS = 4_096;
const NO_NAME = '<none>';

/** What this Docker holds. Rejects with the reason; ENOENT when there is no socket. */
export async function readDockerImages(socketPath: string): Promise<readonly Image[]> {
  const images = parseDockerImages(await getList(socketPath));
  if (images === null) throw new Error('docker: the answer is no list of images');
  return images;
}

/** The answer of `GET /images/json`; null when it is no list. What has no id is left out. */
export function parseDockerImages(text: string): readonly Image[] | null {
  const parsed = parseJson(text);
  const list: unknown = parsed.ok ? parsed.value : null;
  if (!Array.isArray(list)) return null;
  return list.filter(isObject).flatMap((one): Image[] => {
    const id = textAt(one, 'Id', TEXT_MAX_CHARS);
    if (id === '') return [];
    // An image that lost its tag is still known by the digest it was pulled by.
    const names = [...listAt(one, 'RepoTags'), ...listAt(one, 'RepoDigests')].filter(
      (name): name is string => typeof name === 'string' && !name.startsWith(NO_NAME),
    );
    const createdAt = instantOf(countAt(one, 'Created'));
    return [{ runtime: 'docker', id, names, sizeBytes: countAt(one, 'Size'), createdAt }];
  });
}

function getList(socketPath: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(CONTAINER_RUNTIME_TIMEOUT_MS);
    const headers = { host: 'docker' };
    // Asked seldom: a connection that is kept would only be in the way of a Docker that ends.
    const options = { socketPath, path: '/images/json', headers, signal, agent: false };
    const asked = request(options, (answer) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= CONTAINER_RUNTIME_ANSWER_MAX_BYTES) chunks.push(chunk);
        else answer.destroy(new Error('docker: the answer is too long'));
      });
      answer.on('error', reject);
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(Buffer.concat(chunks).toString());
        else reject(new Error(`docker: status ${answer.statusCode}`));
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}
