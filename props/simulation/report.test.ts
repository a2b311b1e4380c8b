import { describe, expect, it } from 'vitest';
import { nodeMachine } from '../../machines/sensor/node.machine.ts';
import { coverageOf } from './coverage.ts';
import { drawOptions } from './options.ts';
import { escapeHtml } from './page/escape.ts';
import { layLanes, type Told } from './page/lanes.ts';
import { describeValue, statechart } from './page/statechart.ts';
import { textReport } from './report.ts';
import { reportPage } from './report-page.ts';
import { type RunResult, runSimulation } from './run.ts';

const HOSTILE = `<script>alert("x")</script>&'</svg>`;
const options = drawOptions('1', 'smoke', { sensors: 1, consoles: 1, hours: 0.02, kinds: [] });

let once: Promise<RunResult> | null = null;
async function failing(): Promise<RunResult> {
  once ??= runSimulation(options);
  const result = await once;
  return {
    ...result,
    outcome: 'safety',
    violations: [{ checker: HOSTILE, detail: HOSTILE, atMs: 60_000, kind: 'safety' }],
    crashes: [HOSTILE],
  };
}

function reportedOf(result: RunResult) {
  const coverage = coverageOf([nodeMachine], new Set(['node']));
  return { options, result, coverage, cpuSeconds: 1, replay: `npm run simulate ${HOSTILE}` };
}

describe('report', () => {
  it('should let nothing of a run into the page as markup', async () => {
    const states = { of: () => new Map([[HOSTILE, HOSTILE]]) };
    const page = reportPage(reportedOf(await failing()), states);
    expect(page).not.toContain('<script');
    expect(page).not.toContain(`alert("x")`);
    expect(page.match(/<svg/g)?.length).toBe(page.match(/<\/svg>/g)?.length);
    expect(page).toContain(escapeHtml(HOSTILE));
  });

  it('should need nothing from elsewhere', async () => {
    const page = reportPage(reportedOf(await failing()), { of: () => new Map() });
    expect(page).not.toMatch(/(?:src|href)=|url\(|@import/);
  });

  it('should tell the verdict, the hash and how to have it again', async () => {
    const result = await failing();
    const text = textReport(reportedOf(result));
    expect(text).toContain(`VIOLATION (safety) of ${HOSTILE} at 60.000 s: ${HOSTILE}`);
    expect(text).toContain(result.hash);
    expect(text).toContain(`again: npm run simulate ${HOSTILE}`);
    expect(text).toMatch(/^node +1 of 14/m);
  });
});

describe('statechart', () => {
  it('should highlight the active states and their parents alone', () => {
    const svg = statechart(nodeMachine, { awaiting_reenrollment: 'sleeping' });
    const active = [...svg.matchAll(/class="state active[^"]*"><title>([^ <]+)/g)];
    expect(active.map(([, id]) => id)).toEqual(
      ['node.awaiting_reenrollment.sleeping', 'node.awaiting_reenrollment', 'node'].toSorted(
        (one, other) => svg.indexOf(`>${one} `) - svg.indexOf(`>${other} `),
      ),
    );
  });

  it('should name the innermost states', () => {
    expect(describeValue({ a: 'b', c: { d: {}, e: 'f' } })).toBe('a.b · c.d · c.e.f');
  });
});

describe('timeline', () => {
  const told: Told = {
    failedAtMs: 1_100_000,
    plan: [
      { id: 0, kind: 'node.kill', atMs: 1_050_000, durationMs: 10_000, target: 0, severity: 0 },
    ],
    hosts: [{ name: 'node-1', isUp: false }],
    nodeOf: (fingerprint) => (fingerprint === 'f' ? 'node-1' : null),
    recent: [
      { atMs: 5_000, observation: { kind: 'process.started', host: 'node-1', incarnation: 1 } },
      { atMs: 1_010_000, observation: { kind: 'world.slept', ms: 1_000_000 } },
      {
        atMs: 1_050_000,
        observation: { kind: 'fault', fault: 'node.kill', target: '0', detail: '' },
      },
      {
        atMs: 1_050_000,
        observation: {
          kind: 'process.ended',
          host: 'node-1',
          incarnation: 1,
          how: 'killed',
          reason: '',
        },
      },
    ],
  };

  it('should cut out the time asleep', () => {
    const lanes = layLanes(told);
    expect(lanes).toMatchObject({
      fromMs: 5_000,
      failedAtMs: 100_000,
      sleeps: [{ atMs: 10_000, sleptMs: 1_000_000 }],
      bars: [{ name: 'node.kill', fromMs: 50_000, toMs: 60_000, row: 0 }],
    });
  });

  it('should show a host up until it ended', () => {
    expect(layLanes(told).lanes[0]?.up).toEqual([{ fromMs: 5_000, toMs: 50_000 }]);
  });
});
