// The statechart of an actor as nested boxes, the states it is in highlighted. Only SVG, its colours from the page.
import type { AnyStateMachine, AnyStateNode, StateValue } from 'xstate';
import { escapeHtml } from './escape.ts';

type Box = { readonly svg: string; readonly width: number; readonly height: number };

const SIGN_WIDTH = 6.9;
const TITLE_HEIGHT = 22;
const LEAF_HEIGHT = 26;
const PADDING = 10;
const GAP = 8;
/** Boxes go on in the next row from here. */
const ROW_WIDTH = 760;

/** Draws the machine with the states of `value`. */
export function statechart(machine: AnyStateMachine, value: StateValue): string {
  const box = boxOf(machine.root, value, true, ROW_WIDTH);
  const size = `width="${box.width}" height="${box.height}"`;
  return `<svg class="chart" viewBox="-1 -1 ${box.width + 2} ${box.height + 2}" ${size} role="img" aria-label="${escapeHtml(`${machine.id}: ${describeValue(value)}`)}">${box.svg}</svg>`;
}

/** `trust.trusted · stream.open`: the innermost states on one line. */
export function describeValue(value: StateValue): string {
  return leavesOf(value).join(' · ');
}

function leavesOf(value: StateValue): readonly string[] {
  if (typeof value === 'string') return [value];
  return Object.entries(value).flatMap(([state, inner]) => {
    const leaves = inner === undefined ? [] : leavesOf(inner);
    return leaves.length === 0 ? [state] : leaves.map((leaf) => `${state}.${leaf}`);
  });
}

/** What of the value belongs to the inside of a state; null when the state is not active. */
function insideOf(value: StateValue | null, state: string): StateValue | null {
  if (value === null) return null;
  if (typeof value === 'string') return value === state ? {} : null;
  return value[state] ?? null;
}

function boxOf(
  node: AnyStateNode,
  value: StateValue | null,
  isActive: boolean,
  rowWidth: number,
): Box {
  const children = Object.values(node.states);
  const titleWidth = node.key.length * SIGN_WIDTH + 2 * PADDING;
  const classes = `state${isActive ? ' active' : ''}${node.type === 'final' ? ' final' : ''}`;
  const title = `<title>${escapeHtml(`${node.id} ${node.description ?? ''}`)}</title>`;
  if (children.length === 0) {
    const svg =
      `<g class="${classes} leaf">${title}<rect width="${titleWidth}" height="${LEAF_HEIGHT}" rx="6"/>` +
      `<text x="${titleWidth / 2}" y="17" text-anchor="middle">${escapeHtml(node.key)}</text></g>`;
    return { svg, width: titleWidth, height: LEAF_HEIGHT };
  }
  const boxes = children.map((child) => {
    const inside = insideOf(value, child.key);
    return boxOf(child, inside, inside !== null, rowWidth - 2 * PADDING);
  });
  const inner = flow(boxes, rowWidth - 2 * PADDING);
  const width = Math.max(titleWidth, inner.width + 2 * PADDING);
  const height = TITLE_HEIGHT + inner.height + PADDING;
  const kind = node.type === 'parallel' ? 'parallel' : 'compound';
  const svg =
    `<g class="${classes} ${kind}">${title}<rect width="${width}" height="${height}" rx="8"/>` +
    `<text x="${PADDING}" y="16">${escapeHtml(node.key)}</text></g>` +
    `<g transform="translate(${PADDING} ${TITLE_HEIGHT})">${inner.svg}</g>`;
  return { svg, width, height };
}

/** Side by side, in rows. */
function flow(boxes: readonly Box[], rowWidth: number): Box {
  let [x, y, rowHeight, width] = [0, 0, 0, 0];
  let svg = '';
  for (const box of boxes) {
    if (x > 0 && x + box.width > rowWidth) {
      x = 0;
      y += rowHeight + GAP;
      rowHeight = 0;
    }
    svg += `<g transform="translate(${x} ${y})">${box.svg}</g>`;
    width = Math.max(width, x + box.width);
    rowHeight = Math.max(rowHeight, box.height);
    x += box.width + GAP;
  }
  return { svg, width, height: y + rowHeight };
}
