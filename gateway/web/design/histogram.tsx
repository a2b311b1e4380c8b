// Counts over time with a brush: drag over bars, or move and mark them by arrow keys, to look closer. Its numbers are a table
// for whoever cannot see it, and the bar in hand is told below in a line that is always there, so that nothing moves.
import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react';
import type { Bar } from './bars.ts';
import { exact } from './numbers.ts';
import { DESIGN_TEXTS as TEXTS } from './texts.ts';
import { absolute } from './time.tsx';

const HEIGHT = 72;
const BAR = 8;
const LEAST_PX = 1;

export type Marked = { readonly fromMs: number; readonly toMs: number };
type Brush = { readonly from: number; readonly to: number };

export function Histogram({
  title,
  bars,
  stepMs,
  onZoom,
}: {
  readonly title: string;
  readonly bars: readonly Bar[];
  readonly stepMs: number;
  readonly onZoom?: (range: Marked) => void;
}) {
  const { brush, hovered, handlers } = useBrush(bars, stepMs, onZoom);
  const last = bars.length - 1;
  const shown = brush?.to ?? hovered;
  const told = sentenceOf(bars, shown, stepMs);
  return (
    <figure className="fs-histogram">
      <div
        className="fs-histogram-bars"
        role="slider"
        tabIndex={0}
        aria-label={`${title}. ${TEXTS.brushKeys}`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, last)}
        aria-valuenow={brush?.to ?? 0}
        aria-valuetext={told}
        {...handlers}
      >
        <svg
          viewBox={`0 0 ${bars.length * BAR} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <Marks bars={bars} brush={brush} />
        </svg>
      </div>
      <figcaption className="fs-histogram-foot fs-meta">
        <span>{bars[0] === undefined ? '' : absolute(bars[0].at)}</span>
        <span className="fs-num">{told}</span>
      </figcaption>
      <Numbers title={title} bars={bars} />
    </figure>
  );
}

/** What is marked, what the pointer is over, and what keys and pointer do to both. */
function useBrush(
  bars: readonly Bar[],
  stepMs: number,
  onZoom: ((range: Marked) => void) | undefined,
) {
  const [brush, setBrush] = useState<Brush | null>(null);
  const [hovered, setHovered] = useState<number | null>(null);
  const isDragging = useRef(false);
  const last = bars.length - 1;
  const zoom = ({ from, to }: Brush) => {
    const [first, end] = [bars[Math.min(from, to)], bars[Math.max(from, to)]];
    setBrush(null);
    if (first === undefined || end === undefined) return;
    onZoom?.({ fromMs: Date.parse(first.at), toMs: Date.parse(end.at) + stepMs });
  };
  const onKey = (event: KeyboardEvent) => {
    const next = brushAfter(brush, event, last);
    if (next !== undefined) {
      event.preventDefault();
      setBrush(next);
    } else if (event.key === 'Enter' && brush !== null) zoom(brush);
  };
  const onPointer = (event: PointerEvent<HTMLDivElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const at = clamped(Math.floor(((event.clientX - left) / width) * bars.length), last);
    setHovered(at);
    if (event.type === 'pointerdown' && onZoom !== undefined && event.button === 0) {
      event.currentTarget.setPointerCapture(event.pointerId);
      isDragging.current = true;
      setBrush({ from: at, to: at });
    } else if (event.type === 'pointermove' && isDragging.current && brush !== null) {
      setBrush({ from: brush.from, to: at });
    } else if (event.type === 'pointerup' && isDragging.current && brush !== null) {
      isDragging.current = false;
      zoom(brush);
    }
  };
  const handlers = {
    onKeyDown: onKey,
    onBlur: () => setBrush(null),
    onPointerDown: onPointer,
    onPointerMove: onPointer,
    onPointerUp: onPointer,
    onPointerLeave: () => setHovered(null),
  };
  return { brush, hovered, handlers };
}

function Marks({ bars, brush }: { readonly bars: readonly Bar[]; readonly brush: Brush | null }) {
  const most = Math.max(1, ...bars.map(({ total }) => total));
  return (
    <>
      {bars.map(({ at, parts }, step) => {
        let foot = HEIGHT;
        return parts.map(({ severity, events }) => {
          const height = Math.max(LEAST_PX, (events / most) * HEIGHT);
          foot -= height;
          return (
            <rect
              key={`${at} ${severity}`}
              x={step * BAR + 0.5}
              y={Math.max(0, foot)}
              width={BAR - 1}
              height={height}
              fill={`var(--fs-${severity})`}
            />
          );
        });
      })}
      {brush !== null && (
        <rect
          className="fs-brush"
          x={Math.min(brush.from, brush.to) * BAR}
          y={0}
          width={(Math.abs(brush.to - brush.from) + 1) * BAR}
          height={HEIGHT}
        />
      )}
    </>
  );
}

function Numbers({ title, bars }: { readonly title: string; readonly bars: readonly Bar[] }) {
  return (
    <table className="fs-hidden">
      <caption>{title}</caption>
      <tbody>
        {bars
          .filter(({ total }) => total > 0)
          .map(({ at, total }) => (
            <tr key={at}>
              <th scope="row">{absolute(at)}</th>
              <td>{total}</td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

/** The bar in hand, or all of them together. */
function sentenceOf(bars: readonly Bar[], shown: number | null, stepMs: number): string {
  const bar = shown === null ? undefined : bars[shown];
  if (bar === undefined) {
    return TEXTS.inAll(exact(bars.reduce((sum, { total }) => sum + total, 0)));
  }
  const until = absolute(Date.parse(bar.at) + stepMs);
  const parts = bar.parts.map(({ severity, events }) => `${exact(events)} ${severity}`);
  return `${absolute(bar.at)} – ${until}: ${parts.length === 0 ? '0' : parts.join(', ')}`;
}

/** Arrows move the mark, with shift they make it wider; undefined for every other key. */
function brushAfter(
  brush: Brush | null,
  { key, shiftKey }: Pick<KeyboardEvent, 'key' | 'shiftKey'>,
  last: number,
): Brush | null | undefined {
  if (key === 'Escape' && brush !== null) return null;
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1 }[key];
  const jump = { Home: 0, End: last }[key];
  if (step === undefined && jump === undefined) return undefined;
  if (brush === null) return { from: jump ?? last, to: jump ?? last };
  const to = clamped(jump ?? brush.to + (step ?? 0), last);
  return { from: shiftKey ? brush.from : to, to };
}

function clamped(index: number, last: number): number {
  return Math.max(0, Math.min(last, index));
}
