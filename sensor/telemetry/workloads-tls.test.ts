// The workloads over TLS, as a cluster has it: an API server and a kubelet with authorities of their own on loopback, and
// the files of a service account that somebody else rotates.
import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { KUBERNETES_REFRESH_MIN_MS } from '../../machines/pipeline-limits.ts';
import { type Authority, certify, LOOPBACK, type Pair } from './certify.fixture.ts';
import { type KubernetesAccess, readWorkloads } from './kubernetes-lists.ts';
import { createNodeContext } from './workloads.ts';

const WAIT = { timeout: 60_000 };

type Peer = { readonly server: Server; readonly url: URL; readonly tokens: string[] };

let apiAuthority: Authority;
let kubeletAuthority: Authority;
let apiPair: Pair;
let folder = '';
let peers: Peer[] = [];
let access: KubernetesAccess;
/** The token that the API server and the kubelet accept. */
let accepted = '';

const pod = (name: string, digit: string) => ({
  metadata: { namespace: 'shop', name },
  status: { containerStatuses: [{ containerID: `containerd://${digit.repeat(64)}` }] },
});

async function listen(
  pair: Pair,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Peer> {
  const tokens: string[] = [];
  const server = createServer({ key: pair.keyPem, cert: pair.certPem }, (request, response) => {
    tokens.push(request.headers.authorization ?? '');
    if (request.headers.authorization === `Bearer ${accepted}`) answer(request, response);
    else response.writeHead(401).end();
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const peer = { server, tokens, url: new URL(`https://127.0.0.1:${port}`) };
  peers.push(peer);
  return peer;
}
const listOf = (...items: object[]) => JSON.stringify({ items, metadata: {} });
const startApi = (pair = apiPair) =>
  listen(pair, (_, response) => response.end(listOf(pod('basket', 'a'))));

/** As a kubelet of the node writes a projected volume: a new folder, then one link that changes. */
async function project(token: string, ca: string): Promise<void> {
  const round = await mkdtemp(join(folder, 'round-'));
  await writeFile(join(round, 'token'), token);
  await writeFile(join(round, 'ca.crt'), ca);
  await symlink(round, join(folder, 'next'));
  await rename(join(folder, 'next'), join(folder, 'data'));
}

beforeAll(() => {
  apiAuthority = { name: 'cluster', ...certify('cluster', null) };
  kubeletAuthority = { name: 'kubelets', ...certify('kubelets', null) };
  apiPair = certify('api', apiAuthority, LOOPBACK);
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'workloads-tls-'));
  accepted = 'first';
  await project('first\n', apiAuthority.certPem);
  access = {
    apiUrl: new URL('https://127.0.0.1:1'),
    kubeletUrl: null,
    tokenFile: join(folder, 'data', 'token'),
    caFile: join(folder, 'data', 'ca.crt'),
    kubeletCaFile: join(folder, 'data', 'ca.crt'),
    nodeName: 'node-a',
  };
});
afterEach(async () => {
  for (const { server } of peers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  peers = [];
  await rm(folder, { recursive: true, force: true });
});

const namesOf = async (from: KubernetesAccess) =>
  [...(await readWorkloads(from)).containers.values()].map((one) => one.pod_name);
const refusalOf = (from: KubernetesAccess) =>
  readWorkloads(from).then(
    () => 'told',
    (error: Error) => error.message,
  );

describe('workloads over TLS', () => {
  it('should come from a server that the CA of the service account signed', async () => {
    const api = await startApi();
    expect(await namesOf({ ...access, apiUrl: api.url })).toEqual(['basket']);
    expect(api.tokens).toEqual(['Bearer first']);
  });

  it('should follow a token and a CA that were rotated, without a start', async () => {
    const api = await startApi();
    let nowMs = 0;
    const reasons: (string | null)[] = [];
    const context = createNodeContext(
      { ...access, apiUrl: api.url },
      { monotonicNow: () => nowMs, tell: (reason) => reasons.push(reason) },
    );
    const look = () => {
      nowMs += KUBERNETES_REFRESH_MIN_MS;
      return context.workloadOf('9'.repeat(64));
    };
    await vi.waitFor(() => expect(context.workloadOf('a'.repeat(64))).toBeDefined(), WAIT);
    accepted = 'second';
    look();
    await vi.waitFor(() => expect(reasons).toHaveLength(1), WAIT);
    expect(reasons[0]).toBe(`${api.url.host}: the token is not accepted (401)`);
    expect(context.workloadOf('a'.repeat(64))?.pod_name).toBe('basket');
    await project('second\n', apiAuthority.certPem);
    look();
    await vi.waitFor(() => expect(reasons).toEqual([expect.any(String), null]), WAIT);
    expect(api.tokens).toEqual(['Bearer first', 'Bearer first', 'Bearer second']);
    // Another authority in the file: the server that was trusted a moment ago is not any more.
    await project('second\n', kubeletAuthority.certPem);
    look();
    await vi.waitFor(() => expect(reasons).toHaveLength(3), WAIT);
    expect(reasons[2]).toContain('its certificate does not pass by');
    expect(api.tokens).toHaveLength(3);
  });

  it('should not be asked of a server of another CA, which never sees the token', async () => {
    const foreign = certify('api', kubeletAuthority, LOOPBACK);
    const api = await startApi(foreign);
    const reason = await refusalOf({ ...access, apiUrl: api.url });
    expect(reason).toContain(`${api.url.host}: its certificate does not pass by ${access.caFile}`);
    expect(reason).toContain('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    expect(api.tokens).toEqual([]);
  });

  it('should not be asked of a server of another name', async () => {
    const other = certify('api', apiAuthority, [{ type: 2, value: 'elsewhere.test' }]);
    const api = await startApi(other);
    expect(await refusalOf({ ...access, apiUrl: api.url })).toContain(
      'ERR_TLS_CERT_ALTNAME_INVALID',
    );
    expect(api.tokens).toEqual([]);
  });

  it('should not pass without a CA file by the public roots, and not hide one that cannot be read', async () => {
    const api = await startApi();
    const from = { ...access, apiUrl: api.url };
    const none = await refusalOf({ ...from, caFile: join(folder, 'nowhere') });
    expect(none).toContain('does not pass by a public CA');
    expect(await refusalOf({ ...from, caFile: folder })).toContain('EISDIR');
    expect(api.tokens).toEqual([]);
  });

  it('should come from a kubelet under its own CA when the API server is away', async () => {
    const pair = certify('node-a', kubeletAuthority, LOOPBACK);
    const kubelet = await listen(pair, (_, response) => response.end(listOf(pod('till', 'b'))));
    const kubeletCaFile = join(folder, 'kubelet-ca.crt');
    const from = { ...access, kubeletUrl: kubelet.url };
    const both = await refusalOf(from);
    expect(both).toContain('127.0.0.1:1: ECONNREFUSED');
    expect(both).toContain(`${kubelet.url.host}: its certificate does not pass by`);
    await writeFile(kubeletCaFile, kubeletAuthority.certPem);
    expect(await namesOf({ ...from, kubeletCaFile })).toEqual(['till']);
    expect(kubelet.tokens).toEqual(['Bearer first']);
  });

  it('should come from a kubelet that signed for itself, once that certificate is the CA', async () => {
    const own = certify('node-a', null, LOOPBACK);
    const kubelet = await listen(own, (_, response) => response.end(listOf(pod('till', 'b'))));
    const kubeletCaFile = join(folder, 'kubelet.crt');
    await writeFile(kubeletCaFile, own.certPem);
    const from = { ...access, kubeletUrl: kubelet.url };
    expect(await namesOf({ ...from, kubeletCaFile })).toEqual(['till']);
    expect(await refusalOf(from)).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
  });
});
