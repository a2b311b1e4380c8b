// The live actor of a sensor: its statechart as it runs now or as it was, what moved it, and what would.
import { Button } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { sensorMachine } from '../../../machines/console/fleet/sensor.machine.ts';
import type { SensorContext } from '../../../machines/console/fleet/sensor.rules.ts';
import type { TrustHealth } from '../../../machines/wire/heartbeat.ts';
import { asking, useApi } from '../api/client.ts';
import type { SensorActor, SensorMove } from '../api/contract.ts';
import { useTopic } from '../api/live.ts';
import { JsonChange } from '../design/json.tsx';
import { Panel } from '../design/page.tsx';
import { Answered } from '../design/states.tsx';
import { absolute } from '../design/time.tsx';
import { HealthWhy } from '../sensors/health-badge.tsx';
import { MoveLog } from './move-log.tsx';
import { NodePart } from './node-part.tsx';
import { timersOf } from './sensor-timers.ts';
import { type ChartFacts, StateChart } from './state-chart.tsx';
import { activeIn, treeOf } from './state-tree.ts';
import { ACTOR_TEXTS as TEXTS } from './texts.ts';
import { type Move, together } from './time-travel.ts';
import { WhatIf } from './what-if-panel.tsx';

const route = getRouteApi('/shell/sensors/$id/actor');
const MOVES_MAX = 500;
const STORED_AGAIN_MS = 15_000;
const TREE = treeOf(sensorMachine);
type Regions = Readonly<Record<string, string>>;

export function ActorTab() {
  const { id } = route.useParams();
  const { at } = route.useSearch();
  const navigate = useNavigate();
  const isPast = at !== undefined && !Number.isNaN(Date.parse(at));
  const live = useApi('GET /sensors/:id/actor', { params: { id } }, { refetchInterval: 30_000 });
  const past = useApi(
    'GET /sensors/:id/actor',
    { params: { id }, query: isPast ? { at } : {} },
    { enabled: isPast, placeholderData: keepPreviousData },
  );
  const { moves, stored } = useMoves(id, () => void live.refetch());
  const [machine, setMachine] = useState('stream');
  const until = useMemo(
    () => (isPast ? stored.filter((one) => Date.parse(one.at) <= Date.parse(at)) : stored),
    [stored, isPast, at],
  );
  const goTo = (instant: string | null) =>
    void navigate({
      ...{ to: '/sensors/$id/actor', params: { id }, replace: true },
      search: instant === null ? {} : { at: instant },
    });
  return (
    <div className="fs-actor">
      <TimeBar moves={moves} at={isPast ? at : null} onGo={goTo} />
      <Answered of={isPast ? past : live}>
        {(data) => <Shown actor={data} moves={moves} onGo={goTo} />}
      </Answered>
      <NodePart
        {...{ id, moves: until, machine, onChoose: setMachine }}
        asOf={isPast ? at : null}
      />
    </div>
  );
}

type Recorded = {
  /** Of the actor: stored, and told by the live channel since; newest first. */
  readonly moves: readonly Move[];
  /** Of the node, too, as they are stored. */
  readonly stored: readonly SensorMove[];
};

function useMoves(id: string, onMove: () => void): Recorded {
  const asked = useQuery({
    ...asking('GET /sensors/:id/transitions', { params: { id }, query: { limit: MOVES_MAX } }),
    refetchInterval: STORED_AGAIN_MS,
  });
  const [live, setLive] = useState<readonly Move[]>([]);
  useTopic({ topic: 'sensor', id }, (patch) => {
    const told = patch['moves'] as readonly Move[];
    if (told.length > 0) setLive((now) => [...told, ...now].slice(0, MOVES_MAX));
    onMove();
  });
  const rows = asked.data?.items;
  return useMemo(() => {
    const stored = rows ?? [];
    const own = stored.filter(({ kind }) => kind === 'sensor');
    return { moves: together(own, live).slice(0, MOVES_MAX), stored };
  }, [rows, live]);
}

function Shown({
  actor,
  moves,
  onGo,
}: {
  readonly actor: SensorActor;
  readonly moves: readonly Move[];
  readonly onGo: (at: string | null) => void;
}) {
  const facts = useMemo(() => factsOf(actor, moves), [actor, moves]);
  const { as_of: asOf, gap } = actor;
  const chosen = asOf === null ? null : (movesUntil(moves, asOf)[0] ?? null);
  return (
    <>
      {gap !== null && <p role="alert">{TEXTS.gap(gap.rows, absolute(gap.from))}</p>}
      <HealthWhy
        health={actor.trust_health as TrustHealth | null}
        because={actor.because}
        isBrief
      />
      <StateChart tree={TREE} facts={facts} label={TEXTS.chart('sensor')} />
      <div className="fs-halves">
        <MoveLog moves={moves} chosen={chosen} onChoose={(move) => onGo(move.at)} />
        <div className="fs-actor">
          <SnapshotPanel actor={actor} />
          {gap === null && (
            <WhatIf
              key={asOf ?? ''}
              regions={actor.value as Regions}
              context={actor.context as SensorContext}
            />
          )}
        </div>
      </div>
    </>
  );
}

function movesUntil(moves: readonly Move[], asOf: string | null): readonly Move[] {
  const atMs = asOf === null ? Number.POSITIVE_INFINITY : Date.parse(asOf);
  return moves.filter((move) => Date.parse(move.at) <= atMs);
}

function factsOf(actor: SensorActor, moves: readonly Move[]): ChartFacts {
  const regions = actor.value as Regions;
  const context = actor.context as SensorContext | null;
  const until = movesUntil(moves, actor.as_of);
  const since = new Map<string, number>();
  for (const [region, state] of Object.entries(regions)) {
    const move = until.find((one) => one.region === region);
    const sinceMs = move === undefined ? context?.knownSinceMs : Date.parse(move.at);
    if (sinceMs !== undefined) since.set(`${region}.${state}`, sinceMs);
  }
  const last = until.find(({ region }) => region !== '');
  return {
    active: new Set(activeIn(regions)),
    since,
    timers: timersOf(actor.timers, since),
    asOfMs: actor.as_of === null ? null : Date.parse(actor.as_of),
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
    </div>
  );
}

function SnapshotPanel({ actor }: { readonly actor: SensorActor }) {
  const { value, context, tags, status, restarts, timers } = actor;
  const shown = { value, context, timers, tags, status, restarts };
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
