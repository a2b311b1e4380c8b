// The pods of this node from the API server, or from the kubelet when the server is away, and of the owners whose own owner
// their name does not tell the lists of their namespaces as bare metadata. Each answer is bounded in bytes and in time.
import { readFile } from 'node:fs/promises';
import { KUBERNETES_PAGE_ITEMS, KUBERNETES_PAGES_MAX } from '../../machines/pipeline-limits.ts';
import { parseJson } from '../../machines/wire/parse.ts';
import { isObject, listAt, objectAt, textAt } from '../pipeline/json-value.ts';
import { createPodBook, type ListedPods, versionOf, type Workloads } from '../pipeline/pod-book.ts';
import { type Owner, openOwnerLists, ownersOf } from '../pipeline/pod-index.ts';
import { errorCode } from '../state-directory/file-port.ts';
import { getText, type KubernetesPeer } from './kubernetes-get.ts';

export type KubernetesAccess = {
  readonly apiUrl: URL;
  /** Asked for the pods when the API server does not answer. */
  readonly kubeletUrl: URL | null;
  /** The service account's; both are read anew for each round, since they are rotated. */
  readonly tokenFile: string;
  readonly caFile: string;
  /** A kubelet often has a CA of its own, or none. */
  readonly kubeletCaFile: string;
  readonly nodeName: string;
};
type Anchor = { readonly ca: string; readonly caFile: string };
type List = { readonly items: readonly unknown[]; readonly version: string };

const METADATA_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** The workloads of this node, of this moment. Rejects when nobody tells the pods. */
export async function readWorkloads(access: KubernetesAccess): Promise<Workloads> {
  return createPodBook(await readPods(access)).workloads();
}

/** Lists the pods of this node. Rejects when nobody tells them; owners that may not be listed are left out. */
export async function readPods(access: KubernetesAccess): Promise<ListedPods> {
  const peer = await apiPeer(access);
  const listApi = (path: string, accept: string): Promise<List> =>
    list({ ...peer, url: new URL(path, access.apiUrl) }, accept);
  const { items, version } = await listApi(podsPath(access), 'application/json').catch(
    (error: unknown) => podsOfKubelet(access, peer.token, error),
  );
  const owners = await Promise.all(
    openOwnerLists(items).map((path) =>
      listApi(path, METADATA_ONLY).then(
        (one) => one.items,
        () => [],
      ),
    ),
  );
  return {
    pods: items,
    above: new Map<string, Owner>(owners.flatMap((one) => [...ownersOf(one)])),
    version,
  };
}

/** The API server, with token and authority as they are now. */
export async function apiPeer(access: KubernetesAccess): Promise<KubernetesPeer> {
  const [token, anchor] = await Promise.all([
    readFile(access.tokenFile, 'utf8').then((text) => text.trim()),
    anchorOf(access.caFile),
  ]);
  return { ...anchor, token, url: access.apiUrl };
}

/** Where the API server tells the pods of this node. */
export function podsPath({ nodeName }: KubernetesAccess): string {
  return `/api/v1/pods?fieldSelector=${encodeURIComponent(`spec.nodeName=${nodeName}`)}`;
}

/** When both are silent, both are told of. */
async function podsOfKubelet(
  { kubeletUrl, kubeletCaFile }: KubernetesAccess,
  token: string,
  apiError: unknown,
): Promise<List> {
  if (kubeletUrl === null) throw apiError;
  const anchor = await anchorOf(kubeletCaFile);
  const peer = { ...anchor, token, url: new URL('/pods', kubeletUrl) };
  const { items } = await list(peer, 'application/json').catch((error: unknown) => {
    throw new Error([apiError, error].map(sentenceOf).join('; '));
  });
  // A kubelet tells no changes.
  return { items, version: '' };
}

const sentenceOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Without a file the public roots count; one that cannot be read is a mistake, not the absence of one. */
async function anchorOf(caFile: string): Promise<Anchor> {
  const ca = await readFile(caFile, 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  });
  return { ca, caFile };
}

/** All pages of one list, as far as there may be pages; all are of the version of the first. */
async function list(peer: KubernetesPeer, accept: string): Promise<List> {
  const { url } = peer;
  const items: unknown[] = [];
  let version: string | null = null;
  for (let page = 0; page < KUBERNETES_PAGES_MAX; page += 1) {
    url.searchParams.set('limit', String(KUBERNETES_PAGE_ITEMS));
    const parsed = parseJson(await getText(peer, accept));
    const answer: unknown = parsed.ok ? parsed.value : null;
    if (!isObject(answer)) throw new Error(`${url.host}: the answer is no list`);
    items.push(...listAt(answer, 'items'));
    version ??= versionOf(answer);
    const next = textAt(objectAt(answer, 'metadata'), 'continue', 4_096);
    if (next === '') break;
    url.searchParams.set('continue', next);
  }
  return { items, version: version ?? '' };
}
