// What engines, crashes and strangers leave in an export, through the real reader, pipeline, spool and disk: every whole
// line around it arrives, and what is bad is counted.
import { appendFile, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLogger } from '../../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { emptyFacts } from '../../actors/facts.ts';
import { diskExport } from '../../engine/export-files.ts';
import { createPipeline } from '../../pipeline/pipeline.ts';
import { openSpool } from '../../spool/spool.ts';
import type { Spool } from '../../spool/spool-port.ts';
import { diskFiles } from '../../state-directory/file-port.ts';
import { createFlowTable } from '../../telemetry/flows.ts';
import { startCollector } from './collector.ts';

const clock = createWheelClock();
let folder: string;
let live: string;
let spool: Spool;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'collector-lines-'));
  live = join(folder, 'events.log');
  const opened = await openSpool({
    path: join(folder, 'events.jsonl'),
    files: diskFiles,
    clock,
    now: Date.now,
    logger: silentLogger,
    random: () => new Uint8Array(16),
  });
  if (!opened.ok) throw new Error(opened.detail);
  spool = opened.spool;
});
afterEach(async () => {
  await spool.close();
  await rm(folder, { recursive: true, force: true });
});

function collect() {
  let run = (): void => undefined;
  let armed = (): void => undefined;
  const ticks = {
    setTimeout(next: () => void) {
      run = next;
      armed();
      return 1;
    },
    clearTimeout: () => undefined,
    size: () => 1,
    stop: () => undefined,
  };
  const facts = emptyFacts();
  const pipeline = createPipeline({ look: async () => null, workloadOf: () => undefined });
  const collector = startCollector(
    {
      spool,
      facts,
      habits: { pipeline },
      now: Date.now,
      flows: createFlowTable(),
      logger: silentLogger,
      clock: ticks,
      config: { intervals: { STREAM_TICK_MS: 1 } },
      ports: { exportFiles: diskExport },
    },
    live,
    () => 'sensor',
  );
  const tick = (): Promise<void> =>
    new Promise((resolve) => {
      armed = resolve;
      run();
    });
  return { collector, facts, tick };
}

const lineOf = (name: string, parent = 'cGFyZW50'): string =>
  `${JSON.stringify({
    process_exec: {
      process: { exec_id: name, pid: 1, binary: `/bin/${name}`, parent_exec_id: parent },
      parent: { exec_id: parent, pid: 2, binary: '/bin/parent' },
    },
    node_name: 'n',
    time: '2026-01-01T00:00:00.000Z',
  })}\n`;

async function spooled(): Promise<readonly string[]> {
  const batch = await spool.claim('stream', { maxEvents: 1_000, maxBytes: 1_000_000 });
  return (batch?.events ?? []).map((event) => event.process?.binary ?? event.event_kind);
}

it.each([
  ['a line of 10 MB', Buffer.from(`{"process_exec":{"x":"${'a'.repeat(10_000_000)}"}}\n`)],
  ['what is no JSON', Buffer.from('{"process_exec":\n')],
  [
    'an event of a kind nobody knows',
    Buffer.from('{"process_dance":{},"time":"2026-01-01T00:00:00Z"}\n'),
  ],
  ['bytes that are no text', Buffer.from([0x7b, 0xff, 0xfe, 0xc3, 0x28, 0x7d, 0x0a])],
  ['zeros, as a power loss leaves them', Buffer.from(`${'\0'.repeat(5_000)}\n`)],
])('should lose nothing but %s, which is counted', async (_, bad) => {
  const { collector, facts, tick } = collect();
  await appendFile(
    live,
    Buffer.concat([Buffer.from(lineOf('one')), bad, Buffer.from(lineOf('two'))]),
  );
  await tick();
  await tick();
  expect(await spooled()).toEqual(['/bin/one', '/bin/two']);
  expect(facts.pipeline).toMatchObject({ read: 3, normalized: 2, dropped: 1, spooled: 2 });
  await collector.stop();
});

it('should keep an event whose text is not well formed, with a mark in place of what cannot be read', async () => {
  const { collector, facts, tick } = collect();
  const torn = Buffer.from(lineOf('x?y'));
  torn[torn.lastIndexOf('?')] = 0xff;
  await appendFile(live, torn);
  await tick();
  expect(await spooled()).toEqual(['/bin/x\ufffdy']);
  expect(facts.pipeline.dropped).toBe(0);
  await collector.stop();
});

it('should wait for the rest of a half line, and read it whole', async () => {
  const { collector, facts, tick } = collect();
  const line = lineOf('late');
  await appendFile(live, line.slice(0, 40));
  await tick();
  expect(spool.depth()).toBe(0);
  await appendFile(live, line.slice(40));
  await tick();
  expect(await spooled()).toEqual(['/bin/late']);
  expect(facts.pipeline.dropped).toBe(0);
  await collector.stop();
});

it('should count a line that rotation tore, and read on in the next file', async () => {
  const { collector, facts, tick } = collect();
  await appendFile(live, lineOf('one') + lineOf('torn').slice(0, 30));
  await tick();
  await rename(live, join(folder, 'events-2026-01-01T00-00-00.000.log'));
  await appendFile(live, lineOf('two'));
  await tick();
  await tick();
  expect(await spooled()).toEqual(['/bin/one', '/bin/two']);
  expect(facts.pipeline).toMatchObject({ dropped: 1 });
  await collector.stop();
});

it('should count what a policy that only monitors would have stopped', async () => {
  const { collector, facts, tick } = collect();
  const matched = (tags: readonly string[], action = 'KPROBE_ACTION_POST') =>
    JSON.stringify({
      process_tracepoint: { event: 'sys_enter_write', policy_name: 'no-writes', action, tags },
      time: '2026-01-01T00:00:00.000Z',
    });
  const lines = [matched(['monitored.sigkill']), matched(['x', 'monitored.override'])];
  const others = [matched(['monitored']), matched(['monitored.signal'], 'KPROBE_ACTION_SIGKILL')];
  await appendFile(live, `${[...lines, ...others].join('\n')}\n`);
  await tick();
  expect(facts.monitored).toBe(2);
  expect(facts.pipeline).toMatchObject({ normalized: 4 });
  await collector.stop();
});

it('should spool a storm as one event and count what stands in it', async () => {
  const { collector, facts, tick } = collect();
  const exec = JSON.parse(lineOf('sh'));
  const storm = Array.from({ length: 300 }, (_, n) => {
    const process = { ...exec.process_exec.process, exec_id: `e${n}`, pid: n };
    return JSON.stringify({ ...exec, process_exec: { ...exec.process_exec, process } });
  });
  await appendFile(live, `${storm.join('\n')}\n${lineOf('other')}`);
  await tick();
  expect(facts.pipeline).toMatchObject({ read: 301, normalized: 301, aggregated: 299, spooled: 2 });
  const batch = await spool.claim('stream', { maxEvents: 10, maxBytes: 1_000_000 });
  expect(batch?.events[0]).toMatchObject({ event_kind: 'process_burst', occurrences: 300 });
  await collector.stop();
});
