// The pods of a node by list and watch, from an API server of the tests over TLS: what it tells is known without another
// list, whatever ends a watch leaves what is known, and a version that is too old brings the list again. decision: D120
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  KUBERNETES_REFRESH_MIN_MS,
  KUBERNETES_REFRESH_MS,
  KUBERNETES_WATCH_LINE_MAX_BYTES,
} from '../../machines/pipeline-limits.ts';
import { createNodeContext } from '../../sensor/telemetry/workloads.ts';
import { type KubernetesPeer, openKubernetes, TOKEN } from './kubernetes-peer.ts';

const WAIT = { timeout: 60_000 };
const NODE = 'node-a';
let peer: KubernetesPeer;
let folder = '';
let nowMs = 0;
let reasons: (string | null)[] = [];

const digitsOf = (name: string): string => Buffer.from(name).toString('hex').padEnd(64, '0');
const pod = (name: string, more: { phase?: string; node?: string; uid?: string } = {}) => ({
  metadata: { namespace: 'shop', name, uid: more.uid ?? `uid-${name}` },
  spec: { nodeName: more.node ?? NODE, containers: [{ image: `r.test/${name}:1` }] },
  status: {
    phase: more.phase ?? 'Running',
    containerStatuses: [{ containerID: `containerd://${digitsOf(name)}` }],
  },
});

beforeEach(async () => {
  peer = await openKubernetes();
  folder = await mkdtemp(join(tmpdir(), 'kubernetes-'));
  await writeFile(join(folder, 'token'), TOKEN);
  await writeFile(join(folder, 'ca.crt'), peer.caPem);
  [nowMs, reasons] = [0, []];
});
afterEach(async () => {
  await peer.close();
  await rm(folder, { recursive: true, force: true });
});

const follow = () =>
  createNodeContext(
    {
      apiUrl: peer.url,
      kubeletUrl: null,
      tokenFile: join(folder, 'token'),
      caFile: join(folder, 'ca.crt'),
      kubeletCaFile: join(folder, 'ca.crt'),
      nodeName: NODE,
    },
    { monotonicNow: () => nowMs, tell: (reason) => reasons.push(reason) },
  );
const namesOf = (context: ReturnType<typeof follow>) =>
  context.pods()?.items.map(({ name, phase }) => `${name} ${phase}`);
const countOf = (kind: 'list' | 'watch') => peer.asked.filter((one) => one.kind === kind).length;
const isWatched = () => vi.waitFor(() => expect(peer.watching()).toBe(1), WAIT);

describe('the pods of this node', () => {
  it('should be known by one list and what changes after it', async () => {
    for (const name of ['basket', 'till', 'porch']) peer.put(pod(name));
    peer.put(pod('elsewhere', { node: 'node-b' }));
    const context = follow();
    await isWatched();
    expect(namesOf(context)).toEqual(['basket Running', 'till Running', 'porch Running']);
    peer.put(pod('canary', { phase: 'Pending' }));
    peer.put(pod('till', { phase: 'Failed' }));
    peer.remove(pod('basket'));
    await vi.waitFor(
      () => expect(namesOf(context)).toEqual(['till Failed', 'porch Running', 'canary Pending']),
      WAIT,
    );
    // Hours later nobody has listed again, although every look would be due.
    nowMs += 100 * KUBERNETES_REFRESH_MS;
    expect(context.workloadOf(digitsOf('canary'))).toMatchObject({ pod_name: 'canary' });
    expect(context.workloadOf(digitsOf('never'))).toBe(undefined);
    context.pods();
    // Two pages of one list, and one watch from the version that they told.
    expect([countOf('list'), countOf('watch')]).toEqual([2, 1]);
    const [watch] = peer.asked.filter((one) => one.kind === 'watch');
    expect(watch?.url.searchParams.get('resourceVersion')).toBe('104');
    expect(watch?.url.searchParams.get('fieldSelector')).toBe(`spec.nodeName=${NODE}`);
    expect(reasons).toEqual([]);
  });

  it('should name the workload of a container whose pod has just gone', async () => {
    peer.put(pod('basket'));
    const context = follow();
    await isWatched();
    peer.remove(pod('basket'));
    await vi.waitFor(() => expect(namesOf(context)).toEqual([]), WAIT);
    expect(context.workloadOf(digitsOf('basket'))).toMatchObject({ pod_name: 'basket' });
    // The end of an older pod of this name is not the end of the one that runs.
    peer.put(pod('basket', { uid: 'second' }));
    peer.remove(pod('basket', { uid: 'first' }));
    peer.put(pod('last'));
    await vi.waitFor(
      () => expect(namesOf(context)).toEqual(['basket Running', 'last Running']),
      WAIT,
    );
  });

  it('should be watched on from where a watch ended, and from the last bookmark', async () => {
    const context = follow();
    await isWatched();
    peer.bookmark();
    peer.put(pod('basket'));
    peer.bookmark();
    await vi.waitFor(() => expect(namesOf(context)).toEqual(['basket Running']), WAIT);
    nowMs += KUBERNETES_REFRESH_MIN_MS;
    peer.end('over');
    await vi.waitFor(() => expect(countOf('watch')).toBe(2), WAIT);
    await isWatched();
    expect(peer.asked.at(-1)?.url.searchParams.get('resourceVersion')).toBe('103');
    expect(countOf('list')).toBe(1);
    peer.put(pod('till'));
    await vi.waitFor(() => expect(namesOf(context)).toHaveLength(2), WAIT);
  });

  it.each(['a line', 'a status'])(
    'should be listed anew when a version is too old, by %s',
    async (how) => {
      peer.put(pod('basket'));
      const context = follow();
      await isWatched();
      peer.end('broken');
      await vi.waitFor(() => expect(reasons).toHaveLength(1), WAIT);
      peer.put(pod('till'));
      peer.remove(pod('basket'));
      // What is known stays until the list is there.
      expect(namesOf(context)).toEqual(['basket Running']);
      let isFirst = true;
      peer.refuses = ({ kind }, response) => {
        if (kind === 'list' || !isFirst) return false;
        isFirst = false;
        nowMs += KUBERNETES_REFRESH_MIN_MS;
        if (how === 'a status') response.writeHead(410).end();
        else response.end('{"type":"ERROR","object":{"kind":"Status","code":410}}\n');
        return true;
      };
      nowMs += KUBERNETES_REFRESH_MS;
      context.pods();
      await isWatched();
      expect(namesOf(context)).toEqual(['till Running']);
      expect([countOf('list'), countOf('watch')]).toEqual([3, 3]);
      // The peer knows of the watch before the Sensor has its answer.
      await vi.waitFor(() => expect(reasons.at(-1)).toBe(null), WAIT);
    },
  );

  it('should be listed every minute where a watch is not allowed, and say so once', async () => {
    peer.refuses = ({ kind }, response) => {
      if (kind === 'list') return false;
      response.writeHead(403).end();
      return true;
    };
    const context = follow();
    for (const name of ['basket', 'till', 'porch']) {
      peer.put(pod(name));
      nowMs += KUBERNETES_REFRESH_MS;
      await vi.waitFor(() => expect(namesOf(context)).toContain(`${name} Running`), WAIT);
    }
    expect(reasons).toEqual([
      `${peer.url.host}: changes are not told, lists are read instead: the service account may not list this (403)`,
    ]);
  });

  it('should not believe a server that tells no change', async () => {
    const context = follow();
    await isWatched();
    peer.say('{"type":"ADDED","object":7}\n', '\n');
    peer.say('{"type":"NEWS"}\n');
    await vi.waitFor(() => expect(reasons).toEqual([expect.stringMatching(/is no change$/)]), WAIT);
    expect(peer.watching()).toBe(0);
    expect(namesOf(context)).toEqual([]);
  });

  it('should read a change in however many pieces it comes, and none that is too long', async () => {
    const context = follow();
    await isWatched();
    const text = Buffer.from(`${JSON.stringify({ type: 'ADDED', object: pod('bäckerei') })}\n`);
    const middle = text.indexOf(0xa4);
    peer.say(text.subarray(0, middle), text.subarray(middle));
    await vi.waitFor(() => expect(namesOf(context)).toEqual(['bäckerei Running']), WAIT);
    peer.say(`{"type":"ADDED","object":{"x":"${'x'.repeat(KUBERNETES_WATCH_LINE_MAX_BYTES)}`);
    await vi.waitFor(
      () => expect(reasons).toEqual([expect.stringMatching(/a change is too long/)]),
      WAIT,
    );
    expect(namesOf(context)).toEqual(['bäckerei Running']);
  });
});
