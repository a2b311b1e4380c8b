// The live actor of a sensor: its statechart as it runs now or as it was, what moved it, and what would.
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { sensorMachine } from '../../../machines/console/fleet/sensor.machine.ts';
import type { SensorContext } from '../../../machines/console/fleet/sensor.rules.ts';
import { asking, useApi } from '../api/client.ts';
import type { SensorActor } from '../api/contract.ts';
import { useTopic } from '../api/live.ts';
import { JsonChange } from '../design/json.tsx';
import { Panel } from '../design/page.tsx';
import { Answered } from '../design/states.tsx';
import { absolute } from '../design/time.tsx';
import { MoveLog } from './move-log.tsx';
import { timersOf } from './sensor-timers.ts';
import { type ChartFacts, StateChart } from './state-chart.tsx';
import { activeIn, treeOf } from './state-tree.ts';
import { ACTOR_TEXTS as TEXTS } from './texts.ts';
import { type Move, regionsAt, together } from './time-travel.ts';
import { WhatIf } from './what-if-panel.tsx';

const route = getRouteApi('/shell/sensors/$id/actor');
const MOVES_MAX = 500;
const TREE = treeOf(sensorMachine);
type Regions = Readonly<Record<string, string>>;

export function ActorTab() {
  const { id } = route.useParams();
  const { at } = route.useSearch();
  const navigate = useNavigate();
  const actor = useApi('GET /sensors/:id/actor', { params: { id } }, { refetchInterval: 30_000 });
  const moves = useMoves(id, () => void actor.refetch());
  const goTo = (instant: string | null) =>
    void navigate({
      ...{ to: '/sensors/$id/actor', params: { id }, replace: true },
      search: instant === null ? {} : { at: instant },
    });
  return (
    <Answered of={actor}>
      {(data) => <Shown actor={data} moves={moves} at={at ?? null} onGo={goTo} />}
    </Answered>
  );
}

/** Recorded moves and those that the live channel told since, newest first. */
function useMoves(id: string, onMove: () => void): readonly Move[] {
  const stored = useQuery(
    asking('GET /sensors/:id/transitions', { params: { id }, query: { limit: MOVES_MAX } }),
  );
  const [live, setLive] = useState<readonly Move[]>([]);
  useTopic({ topic: 'sensor', id }, (patch) => {
    const told = patch['moves'] as readonly Move[];
    if (told.length > 0) setLive((now) => [...told, ...now].slice(0, MOVES_MAX));
    onMove();
  });
  const rows = stored.data?.items;
  return useMemo(() => together(rows ?? [], live).slice(0, MOVES_MAX), [rows, live]);
}

function Shown({
  actor,
  moves,
  at,
  onGo,
}: {
  readonly actor: SensorActor;
  readonly moves: readonly Move[];
  readonly at: string | null;
  readonly onGo: (at: string | null) => void;
}) {
  const now = actor.value as Regions;
  const atMs = at === null ? null : Date.parse(at);
  const isPast = atMs !== null && !Number.isNaN(atMs);
  const regions = useMemo(
    () => (isPast ? regionsAt(moves, now, atMs) : now),
    [isPast, moves, now, atMs],
  );
  const context = actor.context as SensorContext;
  const facts = useMemo(
    () => factsOf({ regions, moves, context, atMs: isPast ? atMs : null }),
    [regions, moves, context, isPast, atMs],
  );
  const chosen = isPast ? (moves.find((move) => Date.parse(move.at) <= atMs) ?? null) : null;
  return (
    <div className="fs-actor">
      <TimeBar moves={moves} at={isPast ? at : null} onGo={onGo} />
      <StateChart tree={TREE} facts={facts} label={TEXTS.chart('sensor')} />
      <div className="fs-halves">
        <MoveLog moves={moves} chosen={chosen} onChoose={(move) => onGo(move.at)} />
        <div className="fs-actor">
          <SnapshotPanel actor={actor} />
          <WhatIf regions={now} context={context} />
        </div>
      </div>
    </div>
  );
}

function factsOf(shown: {
  readonly regions: Regions;
  readonly moves: readonly Move[];
  readonly context: SensorContext;
  readonly atMs: number | null;
}): ChartFacts {
  const { regions, moves, context, atMs } = shown;
  const active = new Set(activeIn(regions));
  const until = moves.filter((move) => atMs === null || Date.parse(move.at) <= atMs);
  const since = new Map<string, number>();
  for (const [region, state] of Object.entries(regions)) {
    const move = until.find((one) => one.region === region);
    since.set(
      `${region}.${state}`,
      move === undefined ? context.knownSinceMs : Date.parse(move.at),
    );
  }
  const [last] = until;
  return {
    ...{ active, since, timers: timersOf(context, active), isPast: atMs !== null },
    last:
      last === undefined
        ? null
        : { from: `${last.region}.${last.from}`, to: `${last.region}.${last.to}` },
  };
}

function TimeBar({
  moves,
  at,
  onGo,
}: {
  readonly moves: readonly Move[];
  readonly at: string | null;
  readonly onGo: (at: string | null) => void;
}) {
  const instants = useMemo(() => [...new Set(moves.map((move) => move.at))].sort(), [moves]);
  const place =
    at === null
      ? instants.length
      : instants.findLastIndex((one) => Date.parse(one) <= Date.parse(at));
  return (
    <div className="fs-asof" data-past={at !== null}>
      <span className="fs-num">{at === null ? TEXTS.live : `${TEXTS.asOf} ${absolute(at)}`}</span>
      <input
        type="range"
        className="fs-slider"
        aria-label={TEXTS.slider}
        min={0}
        max={instants.length}
        value={Math.max(0, place)}
        aria-valuetext={at === null ? TEXTS.live : absolute(at)}
        onChange={({ currentTarget }) => onGo(instants[Number(currentTarget.value)] ?? null)}
      />
      {at !== null && (
        <Button variant="default" onClick={() => onGo(null)}>
          {TEXTS.backToLive}
        </Button>
      )}
      {at !== null && <span className="fs-meta">{TEXTS.pastStates}</span>}
    </div>
  );
}

function SnapshotPanel({ actor }: { readonly actor: SensorActor }) {
  const { value, context, tags, status, restarts } = actor;
  const shown = { value, context, tags, status, restarts };
  const text = JSON.stringify(shown);
  const seen = useRef({ text, now: shown, before: shown });
  if (seen.current.text !== text) {
    seen.current = { text, now: shown, before: seen.current.now };
  }
  return (
    <Panel title={TEXTS.snapshot}>
      <p className="fs-meta">{TEXTS.snapshotHint}</p>
      <JsonChange before={seen.current.before} after={seen.current.now} />
    </Panel>
  );
}
