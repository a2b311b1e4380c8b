// Lines of an engine's export through the whole pipeline: each event that comes out is one the Console accepts, none is
// lost in a burst, every memory stays within its bound, and the same lines give the same events.

import { BASELINE_BINARIES_MAX, BASELINE_WARM_UP_MS } from '../../../machines/pipeline-limits.ts';
import { Baseline } from '../../../machines/wire/baseline.ts';
import { RuntimeEvent } from '../../../machines/wire/event.ts';
import { parserOfValue } from '../../../machines/wire/parse.ts';
import {
  baselineItem,
  baselinesText,
  parseBaselines,
} from '../../../sensor/pipeline/baseline-file.ts';
import type { NodeContext } from '../../../sensor/pipeline/node-context.ts';
import { createPipeline, type PipelineBatch } from '../../../sensor/pipeline/pipeline.ts';
import { SAMPLE_LINES } from '../../pipeline/sample-lines.ts';
import { checkStorable } from '../storable.ts';
import { demand, demandSame, type FuzzTarget } from '../target.ts';

const NOW_MS = Date.UTC(2026, 5, 1);
const CONTAINER = 'ab'.repeat(32);
/** A node on which every second process still runs, in a container of the first pod. */
const context: NodeContext = {
  look: async (pid) =>
    pid % 2 === 0
      ? null
      : {
          pid,
          parentPid: Math.max(0, pid - 2),
          startTicks: 1,
          uid: 0,
          binary: '/bin/seen',
          arguments: '',
          containerId: CONTAINER,
          networkNamespace: '1',
        },
  workloadOf: (id) => ({ container_id: `containerd://${id}`.slice(0, 80), pod_name: 'pod' }),
};
const fits = parserOfValue(RuntimeEvent);
const fitsSection = parserOfValue(Baseline);

/** The same lines now and after the programs were learned, so that scores are given too. */
async function taken(lines: readonly string[]) {
  const pipeline = createPipeline(context);
  const batches: PipelineBatch[] = [];
  for (const nowMs of [NOW_MS - 2 * BASELINE_WARM_UP_MS, NOW_MS]) {
    batches.push(await pipeline.take(lines, { sensorId: 's', nowMs, looks: { left: 16 } }));
  }
  return { batches, profiles: pipeline.baselines.profiles() };
}

const texts = Object.values(SAMPLE_LINES).map((line) => JSON.stringify(line));
const storm = Array.from({ length: 24 }, (_, n) => {
  const { process_exec: body, ...rest } = JSON.parse(JSON.stringify(SAMPLE_LINES.exec));
  const process = { ...body.process, exec_id: `e${n}`, pid: n, arguments: `-c ${n}` };
  return JSON.stringify({ process_exec: { ...body, process }, ...rest });
});

const target: FuzzTarget = {
  name: 'pipeline',
  modules: [
    'sensor/pipeline/normalise.ts',
    'sensor/pipeline/event-kind.ts',
    'sensor/pipeline/event-detail.ts',
    'sensor/pipeline/event-message.ts',
    'sensor/pipeline/event-parts.ts',
    'sensor/pipeline/pipeline.ts',
    'sensor/pipeline/places.ts',
    'sensor/pipeline/bursts.ts',
    'sensor/pipeline/dns-names.ts',
    'sensor/pipeline/mitre.ts',
    'sensor/pipeline/baselines.ts',
    'machines/detection/deeds.ts',
    'sensor/pipeline/baseline-profile.ts',
    'sensor/pipeline/baseline-file.ts',
  ],
  form: 'lines',
  dictionary: ['dns_name', 'dns_address', 'udp_recvmsg', 'memfd:', '::ffff:1.2.3.4', 'label'],
  seeds: () =>
    [texts.slice(0, 8), texts.slice(8, 16), texts.slice(16, 24), texts.slice(24), storm].map(
      (lines) => Buffer.from(`${lines.join('\n')}\n`),
    ),
  async run(bytes, note) {
    const lines = bytes.toString().split('\n').slice(0, 64);
    const { batches, profiles } = await taken(lines);
    for (const { events, normalized, aggregated } of batches) {
      demand(normalized <= lines.length, 'more events than lines');
      demand(events.length + aggregated === normalized, 'an event is neither told nor folded');
      const folded = events.reduce(
        (sum, one) => sum + (one.first_observed_at === undefined ? 0 : (one.occurrences ?? 0) - 1),
        0,
      );
      demand(folded === aggregated, 'a burst tells another number than it folded');
      for (const event of events) {
        const judged = fits(event);
        demand(judged.ok, `the Console would refuse: ${JSON.stringify(judged).slice(0, 200)}`);
        const isScored = event.anomaly_score === undefined ? 'unscored' : 'scored';
        note(`${event.event_kind} ${isScored} ${event.mitre?.technique ?? ''}`);
      }
      checkStorable([...events]);
    }
    demandSame((await taken(lines)).batches, batches, 'the same lines give other events');
    demand(profiles.size <= BASELINE_BINARIES_MAX, 'too many programs are remembered');
    for (const [binary, profile] of profiles) {
      const item = fitsSection(baselineItem(binary, profile, NOW_MS));
      demand(item.ok, `the Console would refuse a baseline: ${JSON.stringify(item).slice(0, 200)}`);
    }
    const text = baselinesText(profiles);
    const again = parseBaselines(text);
    demand(again !== null && baselinesText(again) === text, 'baselines do not survive a restart');
  },
};
export default target;
