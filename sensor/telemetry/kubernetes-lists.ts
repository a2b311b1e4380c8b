// The pods of this node from the API server, or from the kubelet when the server is away, and of the owners whose own owner
// their name does not tell the lists of their namespaces as bare metadata. Each answer is bounded in bytes and in time.
import { readFile } from 'node:fs/promises';
import { KUBERNETES_PAGE_ITEMS, KUBERNETES_PAGES_MAX } from '../../machines/pipeline-limits.ts';
import type { InventoryItem } from '../../machines/wire/inventory.ts';
import { parseJson } from '../../machines/wire/parse.ts';
import { isObject, listAt, objectAt, textAt } from '../pipeline/json-value.ts';
import {
  indexPods,
  type Owner,
  openOwnerLists,
  ownersOf,
  type PodIndex,
} from '../pipeline/pod-index.ts';
import { podItems } from '../pipeline/pod-items.ts';
import { errorCode } from '../state-directory/file-port.ts';
import { getText, type KubernetesPeer } from './kubernetes-get.ts';
import type { Listed } from './shortened.ts';

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
/** What the cluster says of this node, of one moment. */
export type Workloads = {
  readonly containers: PodIndex;
  readonly pods: Listed<InventoryItem>;
};
type Anchor = { readonly ca: string; readonly caFile: string };

const METADATA_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Reads the workloads of this node. Rejects when nobody tells the pods; owners that may not be listed are left out. */
export async function readWorkloads(access: KubernetesAccess): Promise<Workloads> {
  const [token, anchor] = await Promise.all([
    readFile(access.tokenFile, 'utf8').then((text) => text.trim()),
    anchorOf(access.caFile),
  ]);
  const node = encodeURIComponent(`spec.nodeName=${access.nodeName}`);
  const listApi = (path: string, accept: string): Promise<unknown[]> =>
    list({ ...anchor, token, url: new URL(path, access.apiUrl) }, accept);
  const pods = await listApi(`/api/v1/pods?fieldSelector=${node}`, 'application/json').catch(
    (error: unknown) => podsOfKubelet(access, token, error),
  );
  const owners = await Promise.all(
    openOwnerLists(pods).map((path) => listApi(path, METADATA_ONLY).catch((): unknown[] => [])),
  );
  const above = new Map<string, Owner>(owners.flatMap((items) => [...ownersOf(items)]));
  return { containers: indexPods(pods, above), pods: podItems(pods, above) };
}

/** When both are silent, both are told of. */
async function podsOfKubelet(
  { kubeletUrl, kubeletCaFile }: KubernetesAccess,
  token: string,
  apiError: unknown,
): Promise<unknown[]> {
  if (kubeletUrl === null) throw apiError;
  const anchor = await anchorOf(kubeletCaFile);
  const peer = { ...anchor, token, url: new URL('/pods', kubeletUrl) };
  return await list(peer, 'application/json').catch((error: unknown) => {
    throw new Error([apiError, error].map(sentenceOf).join('; '));
  });
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

/** All pages of one list, as far as there may be pages. */
async function list(peer: KubernetesPeer, accept: string): Promise<unknown[]> {
  const { url } = peer;
  const items: unknown[] = [];
  for (let page = 0; page < KUBERNETES_PAGES_MAX; page += 1) {
    url.searchParams.set('limit', String(KUBERNETES_PAGE_ITEMS));
    const parsed = parseJson(await getText(peer, accept));
    const answer: unknown = parsed.ok ? parsed.value : null;
    if (!isObject(answer)) throw new Error(`${url.host}: the answer is no list`);
    items.push(...listAt(answer, 'items'));
    const next = textAt(objectAt(answer, 'metadata'), 'continue', 4_096);
    if (next === '') break;
    url.searchParams.set('continue', next);
  }
  return items;
}
