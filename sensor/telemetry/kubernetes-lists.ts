// The pods of this node from the API server, or from the kubelet when the server is away, and of the owners whose own owner
// their name does not tell the lists of their namespaces as bare metadata. Each answer is bounded in bytes and in time.
import { readFile } from 'node:fs/promises';
import { request as requestPlain } from 'node:http';
import { request } from 'node:https';
import {
  KUBERNETES_ANSWER_MAX_BYTES,
  KUBERNETES_PAGE_ITEMS,
  KUBERNETES_PAGES_MAX,
  KUBERNETES_TIMEOUT_MS,
} from '../../machines/pipeline-limits.ts';
import { isObject, listAt, objectAt, textAt } from '../pipeline/json-value.ts';
import {
  indexPods,
  type Owner,
  openOwnerLists,
  ownersOf,
  type PodIndex,
} from '../pipeline/pod-index.ts';

export type KubernetesAccess = {
  readonly apiUrl: URL;
  /** Asked for the pods when the API server does not answer. */
  readonly kubeletUrl: URL | null;
  /** The service account's; read anew for each round, since it is rotated. */
  readonly tokenFile: string;
  readonly caFile: string;
  readonly nodeName: string;
};
type Credentials = { readonly token: string; readonly ca: string };

const METADATA_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Reads the workloads of this node. Rejects when nobody tells the pods; owners that may not be listed are left out. */
export async function readWorkloads(access: KubernetesAccess): Promise<PodIndex> {
  const [token, ca] = await Promise.all([
    readFile(access.tokenFile, 'utf8'),
    readFile(access.caFile, 'utf8').catch(() => ''),
  ]);
  const credentials: Credentials = { token: token.trim(), ca };
  const node = encodeURIComponent(`spec.nodeName=${access.nodeName}`);
  const listApi = (path: string, accept: string): Promise<unknown[]> =>
    list(new URL(path, access.apiUrl), credentials, accept);
  const pods = await listApi(`/api/v1/pods?fieldSelector=${node}`, 'application/json').catch(
    (error: unknown) => {
      if (access.kubeletUrl === null) throw error;
      return list(new URL('/pods', access.kubeletUrl), credentials, 'application/json');
    },
  );
  const owners = await Promise.all(
    openOwnerLists(pods).map((path) => listApi(path, METADATA_ONLY).catch((): unknown[] => [])),
  );
  const above = new Map<string, Owner>(owners.flatMap((items) => [...ownersOf(items)]));
  return indexPods(pods, above);
}

/** All pages of one list, as far as there may be pages. */
async function list(url: URL, credentials: Credentials, accept: string): Promise<unknown[]> {
  const items: unknown[] = [];
  for (let page = 0; page < KUBERNETES_PAGES_MAX; page += 1) {
    url.searchParams.set('limit', String(KUBERNETES_PAGE_ITEMS));
    const answer: unknown = JSON.parse(await get(url, credentials, accept));
    if (!isObject(answer)) throw new Error('no list');
    items.push(...listAt(answer, 'items'));
    const next = textAt(objectAt(answer, 'metadata'), 'continue', 4_096);
    if (next === '') break;
    url.searchParams.set('continue', next);
  }
  return items;
}

function get(url: URL, { token, ca }: Credentials, accept: string): Promise<string> {
  const ask = url.protocol === 'http:' ? requestPlain : request;
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(KUBERNETES_TIMEOUT_MS);
    const headers = { authorization: `Bearer ${token}`, accept };
    const asked = ask(url, { headers, signal, ...(ca === '' ? {} : { ca }) }, (answer) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > KUBERNETES_ANSWER_MAX_BYTES)
          answer.destroy(new Error('the answer is too long'));
        else chunks.push(chunk);
      });
      answer.on('error', reject);
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(Buffer.concat(chunks).toString());
        else reject(new Error(`status ${answer.statusCode}`));
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}
