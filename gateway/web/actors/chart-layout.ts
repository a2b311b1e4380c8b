// Lays a machine out with ELK, in a worker: each region by itself, then side by side on shelves. The same machine always
// looks the same, and what was laid out once is kept.
import ELK, { type ElkEdgeSection, type ElkNode } from 'elkjs/lib/elk-api.js';
import ElkWorker from 'elkjs/lib/elk-worker.min.js?worker';
import { type Frame, framesOf, type GraphState, type GraphWay } from './chart-graph.ts';
import type { StateTree } from './state-tree.ts';

const CHAR_PX = 7.2;
const LABEL_CHAR_PX = 5.8;
const STATE_HEIGHT_PX = 44;
const STATE_MIN_PX = 96;
const DOT_PX = 12;
const LABEL_MAX_CHARS = 22;
const GAP_PX = 24;
const TITLE_PX = 32;
/** What a chart is as wide as, at most, on a very wide page, a wide one and a narrow one. */
export const VERY_WIDE_PX = 2_200;
export const WIDE_PX = 1_320;
export const NARROW_PX = 430;

const OPTIONS: Readonly<Record<string, string>> = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  'elk.spacing.nodeNode': '20',
  'elk.spacing.edgeNode': '10',
  'elk.spacing.edgeEdge': '8',
  'elk.spacing.edgeLabel': '4',
  'elk.layered.spacing.nodeNodeBetweenLayers': '26',
  'elk.layered.spacing.edgeNodeBetweenLayers': '10',
  'elk.randomSeed': '1',
  'elk.padding': `[top=${TITLE_PX + 8},left=16,bottom=16,right=16]`,
};

// The order of the machine's own text; the library cannot keep it where states lie within states.
const ORDERED = { ...OPTIONS, 'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES' };

export type Point = { readonly x: number; readonly y: number };
export type Box = Point & { readonly width: number; readonly height: number };
export type PlacedState = GraphState & { readonly box: Box };
export type PlacedWay = GraphWay & {
  readonly points: readonly Point[];
  readonly label: (Point & { readonly text: string }) | null;
};
export type PlacedFrame = { readonly id: string; readonly title: string; readonly box: Box };
export type Chart = {
  readonly frames: readonly PlacedFrame[];
  readonly states: readonly PlacedState[];
  readonly ways: readonly PlacedWay[];
  readonly width: number;
  readonly height: number;
};

let elk: InstanceType<typeof ELK> | null = null;

/** Places every frame, state and way. */
export async function layOut(tree: StateTree, shelfPx: number): Promise<Chart> {
  elk ??= new ELK({ workerFactory: () => new ElkWorker() });
  const placed: { readonly frame: Frame; readonly node: ElkNode }[] = [];
  for (const frame of framesOf(tree)) {
    placed.push({ frame, node: await elk.layout(graphOf(frame)) });
  }
  return onShelves(placed, shelfPx);
}

function graphOf(frame: Frame): ElkNode {
  return {
    id: frame.id === '' ? '#root' : frame.id,
    layoutOptions: frame.states.some(({ is }) => is === 'group') ? OPTIONS : ORDERED,
    children: frame.states.map(nodeOf),
    edges: frame.ways.map((way) => ({
      id: way.id,
      sources: [way.source],
      targets: [way.target],
      labels: [way].filter(hasLabel).map((one) => {
        const text = labelOf(one);
        return { text, width: text.length * LABEL_CHAR_PX, height: 14 };
      }),
    })),
  };
}

function nodeOf(state: GraphState): ElkNode {
  if (state.is === 'initial' || state.is === 'any') {
    const width = state.is === 'any' ? 36 : DOT_PX;
    return { id: state.id, width, height: state.is === 'any' ? 18 : DOT_PX };
  }
  if (state.is === 'group') {
    return { id: state.id, layoutOptions: OPTIONS, children: state.children.map(nodeOf) };
  }
  const width = Math.max(STATE_MIN_PX, state.name.length * CHAR_PX + 28);
  return { id: state.id, width, height: STATE_HEIGHT_PX };
}

function hasLabel({ events }: GraphWay): boolean {
  return events.some((event) => event !== '' && event !== 'always');
}

/** What stands beside a way: its first event, and how many more. */
export function labelOf({ events }: Pick<GraphWay, 'events'>): string {
  const [first = '', ...more] = events.filter((event) => event !== '' && event !== 'always');
  const text = more.length === 0 ? first : `${first} +${more.length}`;
  return text.length > LABEL_MAX_CHARS ? `${text.slice(0, LABEL_MAX_CHARS - 1)}…` : text;
}

function onShelves(
  placed: readonly { readonly frame: Frame; readonly node: ElkNode }[],
  shelfPx: number,
): Chart {
  const chart = {
    frames: [] as PlacedFrame[],
    states: [] as PlacedState[],
    ways: [] as PlacedWay[],
  };
  let [x, y, shelf, widest] = [0, 0, 0, 0];
  for (const { frame, node } of placed) {
    const { width = 0, height = 0 } = node;
    if (x > 0 && x + width > shelfPx) {
      x = 0;
      y += shelf + GAP_PX;
      shelf = 0;
    }
    const shift = { x, y };
    chart.frames.push({ id: frame.id, title: frame.title, box: { ...shift, width, height } });
    chart.states.push(...statesIn(frame.states, node, shift));
    chart.ways.push(...waysIn(frame, node, shift));
    widest = Math.max(widest, x + width);
    x += width + GAP_PX;
    shelf = Math.max(shelf, height);
  }
  return { ...chart, width: widest, height: y + shelf };
}

function statesIn(states: readonly GraphState[], node: ElkNode, shift: Point): PlacedState[] {
  return states.flatMap((state) => {
    const own = node.children?.find(({ id }) => id === state.id);
    if (own === undefined) return [];
    const { x = 0, y = 0, width = 0, height = 0 } = own;
    const box = { x: x + shift.x, y: y + shift.y, width, height };
    return [{ ...state, box }, ...statesIn(state.children, own, shift)];
  });
}

function waysIn(frame: Frame, node: ElkNode, shift: Point): PlacedWay[] {
  const move = ({ x, y }: Point) => ({ x: x + shift.x, y: y + shift.y });
  return frame.ways.flatMap((way) => {
    const edge = node.edges?.find(({ id }) => id === way.id);
    const sections: readonly ElkEdgeSection[] = edge?.sections ?? [];
    const points = sections.flatMap(({ startPoint, bendPoints = [], endPoint }) => [
      ...[startPoint, ...bendPoints, endPoint].map(move),
    ]);
    const [label] = edge?.labels ?? [];
    const { x = 0, y = 0, text = '' } = label ?? {};
    return [{ ...way, points, label: label === undefined ? null : { ...move({ x, y }), text } }];
  });
}
