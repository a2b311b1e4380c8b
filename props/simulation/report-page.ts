// The page of a failing run: what broke, the time before it, the accidents, and the statechart of every actor at the
// moment of the failure. One file without anything from elsewhere and without script.
import type { AnyStateMachine, StateValue } from 'xstate';
import type { ActorStates } from './actor-states.ts';
import type { PlannedFault } from './faults/kinds.ts';
import { describeOptions } from './options.ts';
import { cutText, escapeHtml } from './page/escape.ts';
import { layLanes } from './page/lanes.ts';
import { describeValue, statechart } from './page/statechart.ts';
import { STYLE } from './page/style.ts';
import { timeline } from './page/timeline.ts';
import { coverageLines, type Reported } from './report.ts';
import type { RunResult } from './run.ts';
import { MACHINES } from './unreachable.ts';
import type { Logged } from './world/world.ts';

const LAST_SHOWN = 80;
/** So many accidents are shown that were still to come. */
const NEXT_SHOWN = 3;
const DETAIL_MAX = 260;
const LEGEND = [
  ['<rect class="up" width="14" height="8" y="2" rx="2"/>', 'the process runs'],
  ['<rect class="stream" width="14" height="8" y="2" rx="2"/>', 'its stream is open'],
  ['<g class="mark accepted"><circle cx="7" cy="6" r="3"/></g>', 'request accepted'],
  ['<g class="mark refused"><path d="M3 2l8 8m0-8l-8 8"/></g>', 'request refused'],
  ['<g class="mark acknowledged"><path d="M7 2l4 4-4 4-4-4z"/></g>', 'batch confirmed'],
  ['<g class="fault"><rect width="14" height="10" y="1" rx="2"/></g>', 'accident'],
] as const;

/** The whole page as HTML. */
export function reportPage(reported: Reported, states: ActorStates): string {
  const { options, result, replay } = reported;
  const failedAtMs = result.violations[0]?.atMs ?? result.simulatedMs;
  const title = `${result.outcome}: seed ${options.seed} (${options.profile})`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body><main>
<h1>${escapeHtml(headline(result))}</h1>
<p class="soft">Simulated fleet, seed ${escapeHtml(options.seed)}, profile ${options.profile}; ${(failedAtMs / 1_000).toFixed(3)} s after its beginning</p>
${verdict(result)}
<h2>Before the failure</h2>
<div class="card">${timeline(layLanes(toldOf(result, failedAtMs)))}</div>
<div class="legend">${LEGEND.map(([shape, name]) => `<span><svg width="14" height="12" viewBox="0 0 14 12">${shape}</svg>${name}</span>`).join('')}</div>
<h2>Actors at the moment of the failure</h2>
${actorCards(result, states)}
<h2>Accidents of the plan</h2>
<div class="card">${planTable(result.plan, failedAtMs)}</div>
<h2>Seen last</h2>
<div class="card"><table><tr><th class="number">before</th><th>what</th><th>of what</th></tr>${lastSeen(result.recent, failedAtMs)}</table></div>
<h2>The run</h2>
<div class="card">${facts(reported)}</div>
<h2>Machines</h2>
<div class="card"><pre>${escapeHtml(coverageLines(reported.coverage, false).join('\n'))}</pre></div>
<h2>Again</h2>
<div class="card"><code>${escapeHtml(replay)}</code></div>
</main></body></html>
`;
}

function headline({ outcome, violations }: RunResult): string {
  if (outcome === 'held') return 'Every promise was kept';
  if (outcome === 'crash') return 'The run crashed';
  if (outcome === 'liveness') return 'The fleet did not recover';
  return `A promise was broken: ${violations[0]?.checker ?? 'unknown'}`;
}

function verdict({ violations, crashes }: RunResult): string {
  const told = [
    ...crashes.map((crash) => ['crash', crash] as const),
    ...violations.map(({ kind, checker, detail }) => [`${kind}: ${checker}`, detail] as const),
  ];
  return told
    .map(
      ([name, text]) =>
        `<div class="violation"><b>${escapeHtml(name)}</b><pre>${escapeHtml(text)}</pre></div>`,
    )
    .join('');
}

function toldOf({ fleet, recent, plan }: RunResult, failedAtMs: number) {
  const { certificates, sensors } = fleet.stores.relational.state;
  return {
    recent,
    plan,
    failedAtMs,
    hosts: [...fleet.consoles, ...fleet.nodes].map((host) => ({
      name: host.name,
      isUp: host.isUp(),
    })),
    nodeOf(fingerprint: string) {
      const certificate = certificates.get(fingerprint);
      const sensor = certificate === undefined ? undefined : sensors.get(certificate.sensorId);
      return sensor?.nodeName ?? null;
    },
  };
}

function actorCards({ fleet }: RunResult, states: ActorStates): string {
  const cards: string[] = [];
  for (const console of fleet.consoles) {
    const directory = console.running()?.fleet.directory;
    const actors = [...(directory?.ids() ?? [])].map((id) => {
      const view = directory?.ask(id);
      const node = fleet.stores.relational.state.sensors.get(id)?.nodeName ?? 'unknown';
      const value = view === undefined || view === 'absent' ? null : view.snapshot.value;
      return actorChart(`twin of ${node}`, machineOf('sensor'), value, id);
    });
    cards.push(card(console.name, directory === undefined ? 'down' : 'up', actors));
  }
  for (const node of fleet.nodes) {
    const isUp = node.isUp();
    const actors = [...states.of(node.name)].map(([name, value]) =>
      actorChart(name, machineOf(name), value, ''),
    );
    cards.push(card(node.name, node.state(), isUp ? actors : []));
  }
  return cards.join('');
}

function machineOf(name: string): AnyStateMachine | undefined {
  return MACHINES.find(({ id }) => id === name);
}

function actorChart(
  name: string,
  machine: AnyStateMachine | undefined,
  value: StateValue | null,
  note: string,
): string {
  if (machine === undefined || value === null) {
    return `<details><summary>${escapeHtml(name)} <span class="soft">absent</span></summary></details>`;
  }
  const line = cutText(describeValue(value), 150);
  return (
    `<details><summary>${escapeHtml(name)} <span class="soft">${escapeHtml(line)}</span></summary>` +
    `${note === '' ? '' : `<p class="soft"><code>${escapeHtml(note)}</code></p>`}${statechart(machine, value)}</details>`
  );
}

function card(host: string, state: string, actors: readonly string[]): string {
  const [first, ...rest] = actors;
  if (first === undefined) {
    return `<h3>${escapeHtml(host)} <span class="soft">${escapeHtml(state)}; no actor runs</span></h3>`;
  }
  const open = first.replace('<details>', '<details open>');
  return `<h3>${escapeHtml(host)} <span class="soft">${escapeHtml(state)}</span></h3><div class="card">${open}${rest.join('')}</div>`;
}

function planTable(plan: readonly PlannedFault[], failedAtMs: number): string {
  const shown = plan.filter(({ atMs }) => atMs <= failedAtMs).length + NEXT_SHOWN;
  const rows = plan.slice(0, shown).map(({ id, kind, atMs, durationMs, target, severity }) => {
    const state =
      atMs > failedAtMs ? 'not reached' : atMs + durationMs >= failedAtMs ? 'on' : 'over';
    const cells = [`${id}`, (atMs / 1_000).toFixed(1), (durationMs / 1_000).toFixed(1)];
    const numbers = cells.map((cell) => `<td class="number">${cell}</td>`).join('');
    return `<tr${state === 'on' ? '' : ' class="past"'}>${numbers}<td>${escapeHtml(kind)}</td><td class="number">${target.toFixed(3)}</td><td class="number">${severity.toFixed(3)}</td><td>${state}</td></tr>`;
  });
  const head = ['number', 'at, s', 'for, s', '', 'target', 'severity', ''];
  const names = head.map(
    (name, at) => `<th${at === 3 || at === 6 ? '' : ' class="number"'}>${name}</th>`,
  );
  const left = plan.length - rows.length;
  const rest = left > 0 ? `<p class="soft">${left} more were not reached</p>` : '';
  return `<table><tr>${names.join('')}</tr>${rows.join('')}</table>${rest}`;
}

function lastSeen(recent: readonly Logged[], failedAtMs: number): string {
  return recent
    .slice(-LAST_SHOWN)
    .reverse()
    .map(({ atMs, observation: { kind, ...rest } }) => {
      const before = ((failedAtMs - atMs) / 1_000).toFixed(3);
      const detail = cutText(describeFields(rest), DETAIL_MAX);
      return `<tr><td class="number">${before} s</td><td>${escapeHtml(kind)}</td><td><code>${escapeHtml(detail)}</code></td></tr>`;
    })
    .join('');
}

function describeFields(fields: object): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}

function facts({ options, result, cpuSeconds }: Reported): string {
  const rows = [
    ['options', describeOptions(options)],
    ['accidents', describeFields(result.faults)],
    ['observed', describeFields(result.observations)],
    ['steps', `${result.steps} in ${cpuSeconds.toFixed(1)} s of processor time`],
    ['log', result.hash],
  ] as const;
  return `<dl>${rows.map(([name, text]) => `<dt>${name}</dt><dd><code>${escapeHtml(text)}</code></dd>`).join('')}</dl>`;
}
