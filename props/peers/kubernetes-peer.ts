// An API server of the tests, over TLS: it keeps the pods of several nodes under versions that rise, lists them page by
// page as of one version, tells changes as lines to whoever watches, and forgets old versions when it is told to.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { certify, LOOPBACK } from '../../sensor/telemetry/certify.fixture.ts';

export type PeerPod = {
  readonly metadata: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly spec: { readonly nodeName: string };
};
type Change = { readonly version: number; readonly type: string; readonly object: PeerPod };
export type Asked = { readonly kind: 'list' | 'watch'; readonly url: URL };

export type KubernetesPeer = {
  readonly url: URL;
  readonly caPem: string;
  readonly asked: readonly Asked[];
  /** What it does to requests; null: as a server should. */
  refuses: ((asked: Asked, response: ServerResponse) => boolean) | null;
  put(pod: PeerPod): void;
  remove(pod: PeerPod): void;
  /** Tells the newest version to all who watch. */
  bookmark(): void;
  /** Old versions cannot be gone on from any more. */
  forget(): void;
  /** Sends this to all who watch, in pieces as they are given. */
  say(...pieces: readonly (string | Buffer)[]): void;
  /** How many watch now. */
  watching(): number;
  /** Ends all watches: as agreed, or broken off. */
  end(how: 'over' | 'broken'): void;
  close(): Promise<void>;
};

export const TOKEN = 'token-of-the-service-account';
const PAGE = 2;

/** The pods and the changes of a cluster, with whoever watches. */
function createStore() {
  const pods = new Map<string, PeerPod>();
  const watches = new Map<ServerResponse, string>();
  let changes: Change[] = [];
  let version = 100;
  let oldest = 0;
  const stamped = (pod: PeerPod, at: number) => ({
    ...pod,
    metadata: { ...pod.metadata, resourceVersion: String(at) },
  });
  const lineOf = ({ version: at, type, object }: Change): string =>
    `${JSON.stringify({ type, object: stamped(object, at) })}\n`;
  const isOf = (pod: PeerPod, node: string): boolean => pod.spec.nodeName === node;
  const keyOf = ({ metadata }: PeerPod): string => `${metadata.namespace}/${metadata.name}`;
  const note = (type: string, object: PeerPod): void => {
    version += 1;
    const change = { version, type, object };
    changes.push(change);
    for (const [response, node] of watches) {
      if (isOf(object, node)) response.write(lineOf(change));
    }
  };
  return {
    watches,
    list(url: URL, node: string, response: ServerResponse): void {
      const from = Number(url.searchParams.get('continue') ?? '0');
      const all = [...pods.values()].filter((pod) => isOf(pod, node));
      const items = all.slice(from, from + PAGE).map((pod) => stamped(pod, version));
      const more = from + PAGE < all.length ? { continue: String(from + PAGE) } : {};
      const metadata = { resourceVersion: String(version), ...more };
      response.end(JSON.stringify({ items, metadata }));
    },
    watch(url: URL, node: string, response: ServerResponse): void {
      const from = Number(url.searchParams.get('resourceVersion'));
      if (from < oldest) {
        const status = { kind: 'Status', code: 410, reason: 'Expired' };
        response.end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
        return;
      }
      response.flushHeaders();
      for (const change of changes) {
        if (change.version > from && isOf(change.object, node)) response.write(lineOf(change));
      }
      watches.set(response, node);
      response.on('close', () => watches.delete(response));
    },
    put(pod: PeerPod): void {
      const type = pods.has(keyOf(pod)) ? 'MODIFIED' : 'ADDED';
      pods.set(keyOf(pod), pod);
      note(type, pod);
    },
    remove(pod: PeerPod): void {
      pods.delete(keyOf(pod));
      note('DELETED', pod);
    },
    bookmark(): void {
      version += 1;
      const object = { kind: 'Pod', metadata: { resourceVersion: String(version) } };
      for (const response of watches.keys()) {
        response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
      }
    },
    forget(): void {
      changes = [];
      oldest = version;
    },
  };
}

export async function openKubernetes(): Promise<KubernetesPeer> {
  const authority = { name: 'cluster', ...certify('cluster', null) };
  const { keyPem, certPem } = certify('api', authority, LOOPBACK);
  const { watches, list, watch, ...store } = createStore();
  const asked: Asked[] = [];
  const peer: Pick<KubernetesPeer, 'refuses'> = { refuses: null };

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'https://api');
    const kind = url.searchParams.get('watch') === '1' ? 'watch' : 'list';
    asked.push({ kind, url });
    const [, node] =
      /^spec\.nodeName=(.*)$/.exec(url.searchParams.get('fieldSelector') ?? '') ?? [];
    if (request.headers.authorization !== `Bearer ${TOKEN}`) response.writeHead(401).end();
    else if (peer.refuses?.({ kind, url }, response) === true) return;
    else if (url.pathname !== '/api/v1/pods' || node === undefined) response.writeHead(403).end();
    else if (kind === 'watch') watch(url, node, response);
    else list(url, node, response);
  }

  const server = createServer({ key: keyPem, cert: certPem }, answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(peer, store, {
    url: new URL(`https://127.0.0.1:${port}`),
    caPem: authority.certPem,
    asked,
    say(...pieces: readonly (string | Buffer)[]) {
      for (const piece of pieces) for (const response of watches.keys()) response.write(piece);
    },
    watching: () => watches.size,
    end(how: 'over' | 'broken') {
      for (const response of [...watches.keys()]) {
        if (how === 'over') response.end();
        else response.destroy();
      }
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
