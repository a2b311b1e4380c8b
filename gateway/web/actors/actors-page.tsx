// Every actor of the Console with its state, and what crashed lately with its last moves.
import { Drawer, Select } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useApi } from '../api/client.ts';
import type { Actors } from '../api/contract.ts';
import { useTopic } from '../api/live.ts';
import { Json } from '../design/json.tsx';
import { LinkButton } from '../design/link-button.tsx';
import { exact, shortId } from '../design/numbers.ts';
import { PageFrame } from '../design/page.tsx';
import { Answered, Nothing } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { Ago, At } from '../design/time.tsx';
import { activeIn, eventWord } from './state-tree.ts';
import { ACTOR_TEXTS as TEXTS } from './texts.ts';

const route = getRouteApi('/shell/actors');
const SHOWN = 500;
const LOOK_AGAIN_MS = 2_000;
type Actor = Actors['items'][number];
type Crash = Actors['crashes'][number];

export function ActorsPage() {
  const { kind } = route.useSearch();
  const navigate = useNavigate();
  const query = { limit: SHOWN, ...(kind === undefined ? {} : { kind }) };
  const actors = useApi('GET /system/actors', { query }, { refetchInterval: 10_000 });
  const lookedAt = useRef(0);
  useTopic({ topic: 'actors' }, () => {
    if (Date.now() - lookedAt.current < LOOK_AGAIN_MS) return;
    lookedAt.current = Date.now();
    void actors.refetch();
  });
  const machines = (
    <LinkButton to="/actors/machines/$machine" params={{ machine: 'sensor' }} variant="default">
      {TEXTS.machines}
    </LinkButton>
  );
  return (
    <PageFrame title={TEXTS.title} action={machines}>
      <Answered of={actors}>
        {({ items, counts, crashes }) => (
          <>
            <Select
              size="xs"
              w={220}
              aria-label={TEXTS.kind}
              data={[
                { value: '', label: TEXTS.all },
                ...Object.entries(counts).map(([value, count]) => ({
                  value,
                  label: `${value} (${exact(count)})`,
                })),
              ]}
              value={kind ?? ''}
              allowDeselect={false}
              onChange={(next) =>
                void navigate({ to: '/actors', search: next ? { kind: next } : {} })
              }
            />
            {items.length === 0 ? (
              <Nothing title={TEXTS.noActors} />
            ) : (
              <DataTable
                label={TEXTS.title}
                columns={COLUMNS}
                rows={items}
                rowKey={(actor) => `${actor.kind}/${actor.id}`}
              />
            )}
            <Crashes crashes={crashes} />
          </>
        )}
      </Answered>
    </PageFrame>
  );
}

const COLUMNS: readonly Column<Actor>[] = [
  { id: 'kind', title: TEXTS.kind, width: 140, cell: (actor) => actor.kind },
  {
    ...{ id: 'id', title: TEXTS.id, width: 190 },
    cell: (actor) =>
      actor.kind === 'sensor' ? (
        <Link to="/sensors/$id/actor" params={{ id: actor.id }}>
          <span title={actor.id}>{shortId(actor.id)}</span>
        </Link>
      ) : (
        <span title={actor.id}>{actor.id}</span>
      ),
  },
  {
    ...{ id: 'state', title: TEXTS.state, width: 260, grows: true },
    cell: (actor) => {
      const text = activeIn(actor.value).filter(isLeaf).join(', ');
      return <span title={text}>{text}</span>;
    },
  },
  { id: 'since', title: TEXTS.since, width: 130, cell: (actor) => <Ago at={actor.since} /> },
  {
    ...{ id: 'last', title: TEXTS.last, width: 180 },
    cell: (actor) => eventWord(actor.last_event),
  },
  {
    ...{ id: 'restarts', title: TEXTS.restarts, width: 80, isNumber: true },
    cell: (actor) => exact(actor.restarts),
  },
];

function isLeaf(path: string, _index: number, all: readonly string[]): boolean {
  return !all.some((other) => other.startsWith(`${path}.`));
}

function Crashes({ crashes }: { readonly crashes: readonly Crash[] }) {
  const [open, setOpen] = useState<Crash | null>(null);
  const columns: readonly Column<Crash>[] = [
    { id: 'at', title: TEXTS.since, width: 170, cell: (crash) => <At at={crash.at} /> },
    { id: 'kind', title: TEXTS.kind, width: 140, cell: (crash) => crash.kind },
    {
      ...{ id: 'error', title: TEXTS.crashes, width: 300, grows: true },
      cell: (crash) => (
        <button type="button" className="fs-row-button" onClick={() => setOpen(crash)}>
          {crash.error}
        </button>
      ),
    },
    { id: 'decision', title: TEXTS.state, width: 100, cell: (crash) => crash.decision },
  ];
  return (
    <section className="fs-section" aria-label={TEXTS.crashes}>
      <h2>{TEXTS.crashes}</h2>
      {crashes.length === 0 ? (
        <p className="fs-quiet">{TEXTS.noCrashes}</p>
      ) : (
        <DataTable
          label={TEXTS.crashes}
          columns={columns}
          rows={crashes}
          rowKey={(crash) => `${crash.at}/${crash.kind}/${crash.id}`}
        />
      )}
      <Drawer opened={open !== null} onClose={() => setOpen(null)} title={TEXTS.crashes} size="lg">
        {open !== null && <Json value={open} />}
      </Drawer>
    </section>
  );
}
