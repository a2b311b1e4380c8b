// What the running node adds to lines that leave it open, and that it is asked no more than its bound.
import { describe, expect, it } from 'vitest';
import type { NodeContext, SeenProcess } from '../../sensor/pipeline/node-context.ts';
import { createPipeline } from '../../sensor/pipeline/pipeline.ts';
import { SAMPLE_LINES } from './sample-lines.ts';

const container = 'ab'.repeat(32);
const idOf = (ticks: number, pid: number): string =>
  Buffer.from(`n:${ticks}0000000:${pid}`).toString('base64');
const running = new Map<number, SeenProcess>(
  [
    { pid: 9, parentPid: 5, startTicks: 90, binary: '/bin/c' },
    { pid: 5, parentPid: 1, startTicks: 50, binary: '/bin/b' },
    { pid: 1, parentPid: 0, startTicks: 0, binary: '/sbin/init' },
  ].map((one) => [
    one.pid,
    { ...one, uid: 0, arguments: '', containerId: container, networkNamespace: '77' },
  ]),
);

function nodeOf(seen: ReadonlyMap<number, SeenProcess> = running) {
  const asked: number[] = [];
  const context: NodeContext = {
    async look(pid) {
      asked.push(pid);
      return seen.get(pid) ?? null;
    },
    workloadOf: (id) => ({
      container_id: `containerd://${id}`,
      pod_name: 'web',
      k8s_namespace: 's',
    }),
  };
  return { asked, pipeline: createPipeline(context) };
}
const line = (pid: number, ticks: number, parent: string): string =>
  JSON.stringify({
    process_exec: {
      process: { exec_id: idOf(ticks, pid), pid, binary: `/bin/${pid}`, parent_exec_id: parent },
    },
    time: '2026-05-11T12:54:45.616Z',
  });
const bodyOf = (line: Readonly<Record<string, unknown>>) =>
  line['process_kprobe'] as Readonly<Record<string, unknown>>;
const given = (left: number) => ({ sensorId: 's', nowMs: Date.now(), looks: { left } });

describe('places', () => {
  it('always add ancestors, container, workload and network namespace of a process that runs', async () => {
    const { pipeline } = nodeOf();
    const { events } = await pipeline.take([line(9, 90, idOf(50, 5))], given(64));
    expect(events[0]).toMatchObject({
      parent: { pid: 5, binary: '/bin/b' },
      ancestors: [{ pid: 1, binary: '/sbin/init' }],
      network_namespace: '77',
      workload: { container_id: `containerd://${container}`, pod_name: 'web', k8s_namespace: 's' },
    });
  });

  it('always name a connection by the answer of its namespace, also when no line tells which', async () => {
    const { pipeline } = nodeOf();
    const told = (body: object) =>
      JSON.stringify({
        process_kprobe: {
          ...bodyOf(SAMPLE_LINES.dnsAnswer),
          process: { exec_id: idOf(90, 9), pid: 9, binary: '/bin/9' },
          ...body,
        },
        time: '2026-05-11T12:54:45.616Z',
      });
    const { process: _, parent: __, ...connect } = bodyOf(SAMPLE_LINES.connect);
    const lines = [told({}), told(connect)];
    const { events } = await pipeline.take(lines, given(64));
    expect(events.map(({ event_kind: kind, network }) => [kind, network?.domain])).toEqual([
      ['dns_query', 'updates.example.test'],
      ['network_connect', 'updates.example.test'],
    ]);
    expect(events[1]?.network_namespace).toBe('77');
  });

  it('never believe a pid that was given to another since', async () => {
    const { pipeline } = nodeOf();
    const { events } = await pipeline.take([line(9, 10, idOf(10, 5))], given(64));
    expect(events[0]?.network_namespace).toBe(undefined);
    expect(events[0]?.parent).toBe(undefined);
  });

  it('never ask twice about one process, nor more often than allowed', async () => {
    const { pipeline, asked } = nodeOf(new Map());
    const lines = Array.from({ length: 100 }, (_, n) => line(100 + n, 5, ''));
    await pipeline.take([...lines, ...lines], given(20));
    expect(asked.length).toBe(20);
    await pipeline.take(lines.slice(0, 20), given(20));
    expect(asked.length).toBe(20);
  });

  it('never ask when the line tells', async () => {
    const { pipeline, asked } = nodeOf();
    const { events } = await pipeline.take([JSON.stringify(SAMPLE_LINES.exec)], given(64));
    expect(asked).toEqual([]);
    expect(events[0]?.network_namespace).toBe('4026531840');
  });
});

describe('the pipeline', () => {
  it('always names a connection by the answer before it, and everything by its technique', async () => {
    const { pipeline } = nodeOf();
    const lines = [SAMPLE_LINES.dnsAnswer, SAMPLE_LINES.connect, SAMPLE_LINES.module];
    const texts = [...lines.map((one) => JSON.stringify(one)), 'torn', '{"unknown":{}}'];
    const { events, normalized, aggregated } = await pipeline.take(texts, given(0));
    expect({ normalized, aggregated }).toEqual({ normalized: 3, aggregated: 0 });
    expect(events[1]?.network?.domain).toBe('updates.example.test');
    expect(events[2]?.mitre).toEqual({ technique: 'T1547.006', tactic: 'persistence' });
  });
});

describe('a crowded pipeline', () => {
  it('never gives an event to the wrong sensor or out of order', async () => {
    const { pipeline } = nodeOf();
    const texts = Object.values(SAMPLE_LINES).map((one) => JSON.stringify(one));
    const alone = await Promise.all(
      texts.map(
        async (text) => (await nodeOf().pipeline.take([text], given(0))).events[0]?.event_id,
      ),
    );
    const { events } = await pipeline.take(texts, given(64));
    expect(events.map((one) => one.event_id)).toEqual(alone);
  });
});
