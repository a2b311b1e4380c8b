// The process of an event: what started it, what it started, and a way to all that it did.
import { Link } from '@tanstack/react-router';
import { useApi } from '../api/client.ts';
import type { EventItem, ProcessTree } from '../api/contract.ts';
import { exact } from '../design/numbers.ts';
import { Answered } from '../design/states.tsx';
import { HUNTING_TEXTS as TEXTS } from './texts.ts';

const AROUND_MS = 86_400_000;

export function EventProcess({ event }: { readonly event: EventItem }) {
  return event.process === undefined ? (
    <p className="fs-quiet">{TEXTS.noProcess}</p>
  ) : (
    <Tree event={event} execId={event.process.exec_id} />
  );
}

function Tree({ event, execId }: { readonly event: EventItem; readonly execId: string }) {
  const atMs = Date.parse(event.observed_at);
  const range = {
    from: new Date(atMs - AROUND_MS).toISOString(),
    to: new Date(atMs + AROUND_MS).toISOString(),
  };
  const asked = { sensor_id: event.sensor_id, exec_id: execId, ...range };
  const tree = useApi('GET /events/tree', { query: asked });
  const q = `exec_id:"${execId.replaceAll(/[\\"*?]/g, '\\$&')}"`;
  return (
    <Answered of={tree}>
      {({ items, is_cut: isCut }) => (
        <>
          {isCut && <p className="fs-meta">{TEXTS.cut}</p>}
          <ol className="fs-ancestry">
            {items.map((node) => (
              <Node key={node.exec_id} node={node} isMeant={node.exec_id === execId} tree={items} />
            ))}
          </ol>
          <Link to="/events" search={{ ...range, sensor_id: event.sensor_id, q }}>
            {TEXTS.timelineOf}
          </Link>
        </>
      )}
    </Answered>
  );
}

function Node({
  node,
  isMeant,
  tree,
}: {
  readonly node: ProcessTree['items'][number];
  readonly isMeant: boolean;
  readonly tree: ProcessTree['items'];
}) {
  const top = Math.min(0, ...tree.map(({ depth }) => depth));
  const words = (
    <span className="fs-mono fs-break">
      {node.binary} {node.arguments}
    </span>
  );
  return (
    <li style={{ paddingLeft: (node.depth - top) * 12 }} aria-current={isMeant}>
      {isMeant ? <strong>{words}</strong> : words}{' '}
      <span className="fs-meta">{`pid ${node.pid} · ${TEXTS.eventsOf(exact(node.events))}`}</span>
    </li>
  );
}
