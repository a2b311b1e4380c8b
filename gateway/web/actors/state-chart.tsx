// The statechart of an actor: regions as frames, the active states lit with their time, the last way drawn thick, running
// timers as rings that count down. Whoever cannot see it reads the active states as a list.
import '@xyflow/react/dist/style.css';
import './actors.css';
import { useComputedColorScheme } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import {
  BaseEdge,
  Controls,
  type Edge,
  EdgeLabelRenderer,
  type EdgeProps,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
} from '@xyflow/react';
import { useMemo } from 'react';
import { span } from '../../../machines/span.ts';
import { Answered } from '../design/states.tsx';
import { useNow } from '../design/time.tsx';
import {
  type Chart,
  layOut,
  NARROW_PX,
  type PlacedFrame,
  type PlacedState,
  type PlacedWay,
  VERY_WIDE_PX,
  WIDE_PX,
} from './chart-layout.ts';
import type { StateTree } from './state-tree.ts';
import { ACTOR_TEXTS as TEXTS } from './texts.ts';

export type Timer = { readonly dueMs: number; readonly setMs: number };
export type ChartFacts = {
  readonly active: ReadonlySet<string>;
  /** Since when a state is active, by path. */
  readonly since: ReadonlyMap<string, number>;
  readonly timers: ReadonlyMap<string, Timer>;
  readonly last: { readonly from: string; readonly to: string } | null;
  /** The instant of the past that is shown; null for now. */
  readonly asOfMs: number | null;
};

type FrameNode = Node<{ readonly frame: PlacedFrame }, 'frame'>;
type StateNode = Node<{ readonly state: PlacedState; readonly facts: ChartFacts }, 'state'>;
type WayEdge = Edge<{ readonly way: PlacedWay; readonly isLast: boolean }, 'way'>;

const FRAME_PX = 24;
const NODES = { frame: FrameView, state: StateView };
const EDGES = { way: WayView };

export function StateChart({
  tree,
  facts,
  label,
}: {
  readonly tree: StateTree;
  readonly facts: ChartFacts;
  readonly label: string;
}) {
  const isNarrow = useMediaQuery('(max-width: 600px)');
  const isVeryWide = useMediaQuery('(min-width: 2000px)');
  const shelfPx = isNarrow ? NARROW_PX : isVeryWide ? VERY_WIDE_PX : WIDE_PX;
  const chart = useQuery({
    queryKey: ['layout', tree, shelfPx],
    queryFn: () => layOut(tree, shelfPx),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Answered of={chart} rows={6}>
      {(data) => <Drawn chart={data} facts={facts} label={label} />}
    </Answered>
  );
}

function Drawn({
  chart,
  facts,
  label,
}: {
  readonly chart: Chart;
  readonly facts: ChartFacts;
  readonly label: string;
}) {
  const colorMode = useComputedColorScheme('light');
  const nodes = useMemo(() => nodesOf(chart, facts), [chart, facts]);
  const edges = useMemo(() => edgesOf(chart, facts), [chart, facts]);
  const names = chart.states.filter(({ id }) => facts.active.has(id)).map(({ id }) => id);
  return (
    <figure
      className={`fs-chart ${facts.asOfMs === null ? '' : 'fs-past'}`}
      style={{
        aspectRatio: chart.width / (chart.height + FRAME_PX),
        // Never larger than life: a small machine takes a small place.
        maxWidth: chart.width + FRAME_PX,
      }}
    >
      <figcaption className="fs-hidden">
        {label}. {TEXTS.active}: {names.join(', ')}
      </figcaption>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODES}
        edgeTypes={EDGES}
        colorMode={colorMode}
        fitView
        minZoom={0.2}
        maxZoom={1.5}
        fitViewOptions={{ padding: 0.02, maxZoom: 1 }}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        zoomOnScroll={false}
        preventScrolling={false}
        proOptions={{ hideAttribution: true }}
      >
        <Controls showInteractive={false} position="bottom-right" />
      </ReactFlow>
    </figure>
  );
}

function nodesOf(chart: Chart, facts: ChartFacts): (FrameNode | StateNode)[] {
  const frames = chart.frames.map((frame): FrameNode => {
    const { x, y, width, height } = frame.box;
    return {
      id: `frame/${frame.id}`,
      type: 'frame',
      position: { x, y },
      width,
      height,
      data: { frame },
    };
  });
  const states = chart.states.map((state): StateNode => {
    const { x, y, width, height } = state.box;
    const id = `state/${state.id}`;
    return {
      id,
      type: 'state',
      position: { x, y },
      width,
      height,
      data: { state, facts },
      zIndex: 1,
    };
  });
  return [...frames, ...states];
}

function edgesOf(chart: Chart, { last }: ChartFacts): WayEdge[] {
  const isLast = ({ source, target }: PlacedWay) =>
    last !== null &&
    target === last.to &&
    (source === last.from || source.endsWith('#any') || source.endsWith('assessing'));
  return chart.ways.map((way): WayEdge => {
    const data = { way, isLast: isLast(way) };
    const ends = { source: `state/${way.source}`, target: `state/${way.target}` };
    return { id: way.id, type: 'way', ...ends, data, zIndex: data.isLast ? 3 : 2 };
  });
}

function FrameView({ data: { frame } }: NodeProps<FrameNode>) {
  return <div className="fs-chart-frame">{frame.title}</div>;
}

function StateView({ data: { state, facts } }: NodeProps<StateNode>) {
  const isActive = facts.active.has(state.id);
  const sinceMs = facts.since.get(state.id);
  const timer = facts.timers.get(state.id);
  const kind = state.isFinal ? 'fs-final' : '';
  return (
    <div
      className={`fs-chart-state fs-is-${state.is} ${kind}`}
      data-active={isActive}
      data-state={state.id}
      title={state.description ?? state.name}
    >
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
      {state.is !== 'initial' && <span className="fs-chart-name">{state.name}</span>}
      {isActive && (state.is === 'state' || state.is === 'group') && (
        <span className="fs-chart-time fs-num">
          {sinceMs !== undefined && <Since atMs={sinceMs} asOfMs={facts.asOfMs} />}
        </span>
      )}
      {isActive && timer !== undefined && <Ring timer={timer} asOfMs={facts.asOfMs} />}
    </div>
  );
}

type AsOf = { readonly asOfMs: number | null };

function Since({ atMs, asOfMs }: AsOf & { readonly atMs: number }) {
  const nowMs = useNow();
  return <>{span((asOfMs ?? nowMs) - atMs)}</>;
}

const RING = 2 * Math.PI * 5;

function Ring({ timer, asOfMs }: AsOf & { readonly timer: Timer }) {
  const nowMs = useNow();
  const leftMs = Math.max(0, timer.dueMs - (asOfMs ?? nowMs));
  const share = Math.min(1, leftMs / Math.max(1, timer.dueMs - timer.setMs));
  return (
    <span className="fs-chart-ring" title={TEXTS.timer}>
      <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
        <circle
          cx="7"
          cy="7"
          r="5"
          fill="none"
          stroke="currentColor"
          strokeOpacity="0.3"
          strokeWidth="2"
        />
        <circle
          cx="7"
          cy="7"
          r="5"
          fill="none"
          stroke="currentColor"
          strokeWidth="2"
          strokeDasharray={`${RING * share} ${RING}`}
          transform="rotate(-90 7 7)"
        />
      </svg>
      {span(leftMs)}
    </span>
  );
}

function WayView({ id, data }: EdgeProps<WayEdge>) {
  if (data === undefined || data.way.points.length < 2) return null;
  const { way, isLast } = data;
  const path = way.points.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${x},${y}`).join(' ');
  const end = arrowAt(way.points);
  return (
    <>
      <BaseEdge id={id} path={path} className={isLast ? 'fs-way fs-last' : 'fs-way'} />
      <path d={end} className={isLast ? 'fs-arrow fs-last' : 'fs-arrow'} />
      {way.label !== null && (
        <EdgeLabelRenderer>
          <div
            className={isLast ? 'fs-way-label fs-last' : 'fs-way-label'}
            style={{ transform: `translate(${way.label.x}px, ${way.label.y}px)` }}
            title={way.events.join(', ')}
          >
            {way.label.text}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
}

function arrowAt(points: readonly { readonly x: number; readonly y: number }[]): string {
  const [before, end] = [points.at(-2), points.at(-1)];
  if (before === undefined || end === undefined) return '';
  const angle = Math.atan2(end.y - before.y, end.x - before.x);
  const wing = (turn: number) =>
    `${end.x - 7 * Math.cos(angle + turn)},${end.y - 7 * Math.sin(angle + turn)}`;
  return `M${end.x},${end.y} L${wing(0.45)} L${wing(-0.45)} Z`;
}
