// The workload of a container, asked of a small API server on loopback that speaks as much of the list calls as is asked.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KUBERNETES_REFRESH_MIN_MS } from '../../machines/pipeline-limits.ts';
import { type KubernetesAccess, readWorkloads } from './kubernetes-lists.ts';
import { lookAtProcess } from './process-look.ts';
import { createNodeContext } from './workloads.ts';

const WAIT = { timeout: 60_000 };

const idOf = (digit: string): string => digit.repeat(64);
const pod = (name: string, digit: string, owner?: object, labels: object = {}) => ({
  metadata: {
    namespace: 'shop',
    name,
    labels,
    ...(owner === undefined ? {} : { ownerReferences: [{ controller: true, ...owner }] }),
  },
  status: {
    containerStatuses: [{ containerID: `containerd://${idOf(digit)}`, image: `r.test/${name}:1` }],
  },
});
const PODS = [
  pod(
    'basket-6c9f-x',
    'a',
    { kind: 'ReplicaSet', name: 'basket-6c9f' },
    { 'pod-template-hash': '6c9f' },
  ),
  pod('agent-1', 'b', { kind: 'DaemonSet', name: 'agent' }),
  pod('report-29180040-k', 'c', { kind: 'Job', name: 'report-29180040' }),
  pod('canary-x', 'd', { kind: 'ReplicaSet', name: 'canary-rs' }),
  pod('alone', 'e'),
  { metadata: 5, status: { containerStatuses: [null, { containerID: 'torn' }] } },
];

let server: Server;
let folder: string;
let access: KubernetesAccess;
let asked: string[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'workloads-'));
  await writeFile(join(folder, 'token'), 'secret-token\n');
  asked = [];
  answer = answerLists;
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  access = {
    apiUrl: new URL(`http://127.0.0.1:${port}`),
    kubeletUrl: null,
    tokenFile: join(folder, 'token'),
    caFile: join(folder, 'ca.crt'),
    kubeletCaFile: join(folder, 'ca.crt'),
    nodeName: 'node-a',
  };
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

function answerLists(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://x');
  const isKnown = request.headers.authorization === 'Bearer secret-token';
  if (!isKnown) response.writeHead(401).end();
  else if (url.pathname === '/api/v1/pods') {
    // Two pages: the second begins where the first says.
    const isSecond = url.searchParams.get('continue') === 'p2';
    const items = isSecond ? PODS.slice(3) : PODS.slice(0, 3);
    response.end(JSON.stringify({ items, metadata: isSecond ? {} : { continue: 'p2' } }));
  } else if (url.pathname.endsWith('/replicasets')) {
    const owner = { controller: true, kind: 'Rollout', name: 'canary' };
    const metadata = { namespace: 'shop', name: 'canary-rs', ownerReferences: [owner] };
    response.end(JSON.stringify({ items: [{ metadata }] }));
  } else response.writeHead(403).end();
}

describe('workloads', () => {
  it('should name pod and workload of every container of this node', async () => {
    const { containers: index } = await readWorkloads(access);
    const told = [...index.values()].map((one) => [one.workload_type, one.workload_name]);
    expect(told).toEqual([
      ['Deployment', 'basket'],
      ['DaemonSet', 'agent'],
      ['CronJob', 'report'],
      ['Rollout', 'canary'],
      ['Pod', 'alone'],
    ]);
    expect(index.get('a'.repeat(15))).toEqual({
      container_id: `containerd://${idOf('a')}`,
      k8s_namespace: 'shop',
      pod_name: 'basket-6c9f-x',
      workload_type: 'Deployment',
      workload_name: 'basket',
      image: 'r.test/basket-6c9f-x:1',
    });
    expect(asked[0]).toBe('/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-a&limit=500');
    // Only the owner whose name tells nothing is asked about, in its own namespace.
    expect(asked.slice(2)).toEqual(['/apis/apps/v1/namespaces/shop/replicasets?limit=500']);
  });

  it('should list the pods of this node with what they run', async () => {
    const container = { image: 'r.test/basket:1', securityContext: { privileged: true } };
    const spec = {
      ...{ serviceAccountName: 'shop', hostNetwork: true, containers: [container, container, 7] },
      initContainers: [{ image: 'r.test/a:1' }],
    };
    answer = (_, response) => {
      const [first] = PODS;
      const items = [{ ...first, spec, status: { phase: 'Running' } }, { metadata: {} }, 'torn'];
      response.end(JSON.stringify({ items }));
    };
    const { pods } = await readWorkloads(access);
    expect(pods).toEqual({
      items: [
        {
          ...{ kind: 'Pod', namespace: 'shop', name: 'basket-6c9f-x', phase: 'Running' },
          ...{ workload_type: 'Deployment', workload_name: 'basket', service_account: 'shop' },
          ...{ images: ['r.test/a:1', 'r.test/basket:1'], host_network: true, privileged: true },
        },
      ],
    });
  });

  it('should tell no pods before the cluster has, and those it told last while it is away', async () => {
    const context = createNodeContext(access);
    expect(context.pods()).toBe(null);
    await vi.waitFor(() => expect(context.pods()?.items).toHaveLength(5));
    answer = (_, response) => response.writeHead(500).end();
    expect(context.pods()?.items).toHaveLength(5);
    expect(createNodeContext(null).pods()).toBe(null);
  });

  it('should ask the kubelet when the API server does not tell', async () => {
    answer = (request, response) => {
      if (request.url?.startsWith('/pods') === true) {
        response.end(JSON.stringify({ items: PODS.slice(0, 1) }));
      } else response.writeHead(500).end();
    };
    const from = { ...access, kubeletUrl: access.apiUrl };
    const { containers: index } = await readWorkloads(from);
    expect([...index.values()].map((one) => one.workload_name)).toEqual(['basket']);
  });

  it('should never wait: an unknown container has no workload until the answer is there', async () => {
    const context = createNodeContext(access);
    expect(context.workloadOf(idOf('a'))).toBe(undefined);
    await vi.waitFor(
      () => expect(context.workloadOf(idOf('a').slice(0, 31))?.pod_name).toBe('basket-6c9f-x'),
      WAIT,
    );
  });

  it('should not ask again at once for a container nobody knows, and keep what it knows', async () => {
    let nowMs = 0;
    const context = createNodeContext(access, { monotonicNow: () => nowMs });
    context.workloadOf(idOf('a'));
    await vi.waitFor(() => expect(context.workloadOf(idOf('a'))).toBeDefined(), WAIT);
    const rounds = asked.length;
    for (let n = 0; n < 100; n += 1) context.workloadOf(idOf('9'));
    expect(asked.length).toBe(rounds);
    answer = (_, response) => response.writeHead(500).end();
    nowMs += KUBERNETES_REFRESH_MIN_MS;
    context.workloadOf(idOf('9'));
    await vi.waitFor(() => expect(asked.length).toBeGreaterThan(rounds), WAIT);
    expect(context.workloadOf(idOf('a'))?.workload_name).toBe('basket');
  });

  it.each([
    ['no JSON', 'nonsense'],
    ['no list', '[]'],
    ['a page too many bytes long', `{"items":["${'x'.repeat(17_000_000)}"]}`],
  ])('should refuse %s', async (_, text) => {
    answer = (_request, response) => response.end(text);
    await expect(readWorkloads(access)).rejects.toThrow();
  });

  it('should give up without a token, and outside of a cluster ask nobody', async () => {
    await rm(access.tokenFile);
    await expect(readWorkloads(access)).rejects.toThrow('ENOENT');
    expect(createNodeContext(null).workloadOf(idOf('a'))).toBe(undefined);
  });
});

describe('a look at a process', () => {
  it('should tell this very process by what the kernel says of it', async () => {
    const seen = await lookAtProcess(process.pid);
    expect(seen).toMatchObject({
      pid: process.pid,
      parentPid: process.ppid,
      uid: process.getuid?.(),
    });
    expect(seen?.binary).toBe(process.execPath);
    expect(seen?.networkNamespace).toMatch(/^\d+$/);
    expect(seen?.startTicks).toBeGreaterThan(0);
  });

  it('should find nobody where nobody is', async () => {
    expect(await lookAtProcess(4_194_304)).toBe(null);
  });
});
