// The timeline of a failing run as SVG: accidents on top, then a lane for each host, and the moment of the failure.
import { cutText, escapeHtml } from './escape.ts';
import type { Lane, Lanes, Mark, Span } from './lanes.ts';

const WIDTH = 1_120;
const LABEL_WIDTH = 104;
const ROW_HEIGHT = 20;
const LANE_HEIGHT = 46;
const AXIS_HEIGHT = 30;
const TICKS = 8;

/** Draws it. */
export function timeline(lanes: Lanes): string {
  const scale = (WIDTH - LABEL_WIDTH - 12) / Math.max(1, lanes.toMs - lanes.fromMs);
  const x = (atMs: number): number => round(LABEL_WIDTH + (atMs - lanes.fromMs) * scale);
  const rows = lanes.bars.reduce((most, { row }) => Math.max(most, row + 1), 1);
  const faultsHeight = rows * ROW_HEIGHT + 12;
  const height = AXIS_HEIGHT + faultsHeight + lanes.lanes.length * LANE_HEIGHT + 8;
  const parts = [
    axis(lanes, x, height),
    `<text class="host" x="0" y="${AXIS_HEIGHT + 14}">accidents</text>`,
    ...lanes.bars.map((bar) => {
      const y = AXIS_HEIGHT + bar.row * ROW_HEIGHT;
      const width = Math.max(3, round(x(bar.toMs) - x(bar.fromMs)));
      return (
        `<g class="fault"><title>${escapeHtml(bar.text)}</title><rect x="${x(bar.fromMs)}" y="${y + 2}" width="${width}" height="15" rx="3"/>` +
        `<text x="${x(bar.fromMs) + 5}" y="${y + 13}">${escapeHtml(cutText(bar.name, 26))}</text></g>`
      );
    }),
    ...lanes.lanes.map((lane, at) => {
      const y = AXIS_HEIGHT + faultsHeight + at * LANE_HEIGHT;
      return `<g transform="translate(0 ${y})">${laneSvg(lane, x)}</g>`;
    }),
    ...lanes.sleeps.map(
      ({ atMs, sleptMs }) =>
        `<g class="sleep"><title>${escapeHtml(`asleep for ${minutes(sleptMs)}`)}</title><line x1="${x(atMs)}" x2="${x(atMs)}" y1="${AXIS_HEIGHT}" y2="${height}"/></g>`,
    ),
    healed(lanes, x, height),
    `<g class="failure"><line x1="${x(lanes.failedAtMs)}" x2="${x(lanes.failedAtMs)}" y1="18" y2="${height}"/></g>`,
  ];
  return `<svg class="timeline" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="What happened before the failure">${parts.join('')}</svg>`;
}

function axis(lanes: Lanes, x: (atMs: number) => number, height: number): string {
  const lengthMs = lanes.failedAtMs - lanes.fromMs;
  const stepMs = niceStep(lengthMs / TICKS);
  let svg = `<text class="tick now" x="${x(lanes.failedAtMs)}" y="12" text-anchor="end">failure</text>`;
  for (let backMs = stepMs; backMs <= lengthMs; backMs += stepMs) {
    const at = x(lanes.failedAtMs - backMs);
    svg += `<line class="grid" x1="${at}" x2="${at}" y1="18" y2="${height}"/>`;
    if (at > LABEL_WIDTH + 20) {
      svg += `<text class="tick" x="${at}" y="12" text-anchor="middle">−${minutes(backMs)}</text>`;
    }
  }
  return svg;
}

function healed(
  { healedAtMs, fromMs }: Lanes,
  x: (atMs: number) => number,
  height: number,
): string {
  if (healedAtMs === null || healedAtMs < fromMs) return '';
  const at = x(healedAtMs);
  return `<g class="healed"><line x1="${at}" x2="${at}" y1="18" y2="${height}"/><text x="${at + 5}" y="${height - 4}">everything healed</text></g>`;
}

function niceStep(ms: number): number {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600].map((seconds) => seconds * 1_000);
  return steps.find((step) => step >= ms) ?? 900_000;
}

function minutes(ms: number): string {
  if (ms >= 7_200_000) return `${round(ms / 3_600_000)} h`;
  return ms >= 120_000 ? `${round(ms / 60_000)} min` : `${round(ms / 1_000)} s`;
}

function laneSvg({ host, up, stream, marks }: Lane, x: (atMs: number) => number): string {
  return [
    `<line class="rule" x1="0" x2="${WIDTH}" y1="0" y2="0"/><text class="host" x="0" y="27">${escapeHtml(cutText(host, 14))}</text>`,
    spans(up, 'up', 8, x),
    spans(stream, 'stream', 19, x),
    ...marks.map((mark) => markSvg(mark, x(mark.atMs))),
  ].join('');
}

function spans(
  list: readonly Span[],
  kind: string,
  y: number,
  x: (atMs: number) => number,
): string {
  return list
    .map(({ fromMs, toMs }) => {
      const width = Math.max(1, round(x(toMs) - x(fromMs)));
      return `<rect class="${kind}" x="${x(fromMs)}" y="${y}" width="${width}" height="8" rx="2"/>`;
    })
    .join('');
}

function markSvg({ kind, text }: Mark, x: number): string {
  const shape = {
    accepted: `<circle cx="${x}" cy="35" r="2.5"/>`,
    acknowledged: `<path d="M${x} 31l4 4-4 4-4-4z"/>`,
    refused: `<path d="M${round(x - 4)} 31l8 8m0-8l-8 8"/>`,
  }[kind];
  return `<g class="mark ${kind}"><title>${escapeHtml(text)}</title>${shape}</g>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
