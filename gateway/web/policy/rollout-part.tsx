// One rollout, live: its statechart lit where it stands, its stages, its gates with what they count, its sensors, and what
// moved it. decision: D90
import { Alert, Button, Modal } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { rolloutMachine } from '../../../machines/console/policy/rollout.machine.ts';
import { ROLLOUT_GATES, type RolloutGate } from '../../../machines/console/policy/rollout.rules.ts';
import { span } from '../../../machines/span.ts';
import { type ChartFacts, StateChart } from '../actors/state-chart.tsx';
import { treeOf } from '../actors/state-tree.ts';
import { call, useApi } from '../api/client.ts';
import type { RolloutDetail, RolloutMove, RolloutSensor } from '../api/contract.ts';
import { useTopic } from '../api/live.ts';
import { Failure, useForm } from '../design/form.tsx';
import { exact, shortId } from '../design/numbers.ts';
import { Facts, Panel } from '../design/page.tsx';
import { Mark } from '../design/shape.tsx';
import { Answered } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { POLICY_TEXTS as TEXTS } from './texts.ts';
import { policyTone, stateWord, targetText } from './words.ts';

const route = getRouteApi('/shell/policies/rollouts/$id');
const TREE = treeOf(rolloutMachine);
/** What gates count changes without a move. */
const COUNTED_AGAIN_MS = 5_000;
const SHOWN = 200;
const SECOND_MS = 1_000;

export function RolloutPart() {
  const { id } = route.useParams();
  const params = { id };
  const again = { refetchInterval: COUNTED_AGAIN_MS };
  const rollout = useApi('GET /rollouts/:id', { params }, again);
  const query = { limit: SHOWN };
  const sensors = useApi('GET /rollouts/:id/sensors', { params, query }, again);
  const moves = useApi('GET /rollouts/:id/transitions', { params, query });
  useTopic({ topic: 'rollouts' }, () => {
    for (const one of [rollout, sensors, moves]) void one.refetch();
  });
  return (
    <Answered of={rollout}>
      {(data) => (
        <>
          <Head of={data} />
          <Chart of={data} moves={moves.data?.items ?? []} />
          <div className="fs-grid">
            <Gates of={data} />
            <Panel title={TEXTS.stages}>
              <DataTable
                label={TEXTS.stages}
                columns={STAGES}
                rows={data.stages}
                rowKey={(one) => `${one.percent} ${one.sensor_ids.join()}`}
              />
            </Panel>
          </div>
          <Panel title={TEXTS.sensors}>
            <Answered of={sensors}>
              {({ items }) => (
                <DataTable
                  label={TEXTS.sensors}
                  columns={SENSORS}
                  rows={items}
                  rowKey={(one) => one.sensor_id}
                />
              )}
            </Answered>
          </Panel>
          <Panel title={TEXTS.history}>
            <Answered of={moves}>
              {({ items }) => (
                <DataTable
                  label={TEXTS.history}
                  columns={MOVES}
                  rows={items}
                  rowKey={(one) => String(one.sequence)}
                />
              )}
            </Answered>
          </Panel>
        </>
      )}
    </Answered>
  );
}

function Head({ of }: { readonly of: RolloutDetail }) {
  const { before, counted, failed } = of;
  return (
    <>
      <div className="fs-page-head">
        <h2 className="fs-break">
          <bdi>{`${of.pack_name} ${of.version}`}</bdi> · {targetText(of.target)}
        </h2>
        <Acts of={of} />
      </div>
      {failed !== null && (
        <Alert color="red" variant="light">
          {TEXTS.gateFailed(TEXTS.gateWords[failed.gate], failed.counted, failed.limit)}
        </Alert>
      )}
      <Facts
        facts={[
          [
            TEXTS.state,
            <Mark key="s" tone={policyTone(of.state)}>
              {stateWord(of.state)}
            </Mark>,
          ],
          [TEXTS.mode, of.mode],
          [TEXTS.before, before === null ? TEXTS.nothing : `${before.version} (${before.mode})`],
          [TEXTS.reached, `${exact(counted.reached)} / ${exact(counted.touched)}`],
          [TEXTS.inForce, exact(counted.in_force)],
          [TEXTS.unanswered, exact(counted.unanswered)],
          [TEXTS.offline, exact(counted.offline)],
        ]}
      />
    </>
  );
}

function Acts({ of }: { readonly of: RolloutDetail }) {
  const may = useMay();
  const cache = useQueryClient();
  const [isAborting, setAborting] = useState(false);
  const acting = useForm(async ({ word = '' }) => {
    const params = { id: of.rollout_id };
    if (word === 'pause') await call('POST /rollouts/:id/pause', { params });
    else if (word === 'resume') await call('POST /rollouts/:id/resume', { params });
    else await call('POST /rollouts/:id/abort', { params });
    setAborting(false);
    await cache.invalidateQueries();
  });
  const isRunning = of.state.startsWith('running');
  const waits = of.state === 'running.asking' || of.state === 'paused' || of.state === 'halted';
  if (!may('assignments:write') || (!isRunning && !waits)) return null;
  return (
    <div className="fs-toolbar">
      <Failure text={acting.failure} />
      {isRunning && (
        <Button variant="default" onClick={() => acting.run({ word: 'pause' })}>
          {TEXTS.pause}
        </Button>
      )}
      {waits && <Button onClick={() => acting.run({ word: 'resume' })}>{TEXTS.resume}</Button>}
      <Button color="red" variant="outline" onClick={() => setAborting(true)}>
        {TEXTS.abort}
      </Button>
      <Modal opened={isAborting} onClose={() => setAborting(false)} title={TEXTS.abortTitle}>
        <div className="fs-form">
          <p>{of.may_return ? TEXTS.abortReturns : TEXTS.abortKeeps}</p>
          <Button color="red" loading={acting.isBusy} onClick={() => acting.run({ word: 'abort' })}>
            {TEXTS.abort}
          </Button>
        </div>
      </Modal>
    </div>
  );
}

function Chart({
  of,
  moves,
}: {
  readonly of: RolloutDetail;
  readonly moves: readonly RolloutMove[];
}) {
  const [last] = moves;
  const facts = useMemo((): ChartFacts => {
    const [above = '', inner] = of.state.split('.');
    const active = inner === undefined ? [above] : [above, of.state];
    const from = last?.from ?? null;
    return {
      active: new Set(active),
      since: new Map([[of.state, Date.parse(of.moved_at)]]),
      timers: timersOf(of),
      last: from === null || last === undefined ? null : { from, to: last.to },
      asOfMs: null,
    };
  }, [of, last]);
  return <StateChart tree={TREE} facts={facts} label={TEXTS.chart} />;
}

/** How long the stage is watched yet. */
function timersOf({ state, settled_at, stages, stage }: RolloutDetail): ChartFacts['timers'] {
  const watched = stages[stage];
  if (state !== 'running.watching' || settled_at === null || watched === undefined)
    return new Map();
  const setMs = Date.parse(settled_at);
  return new Map([[state, { setMs, dueMs: setMs + watched.wait_seconds * SECOND_MS }]]);
}

type GateRow = {
  readonly gate: RolloutGate;
  readonly counted: number;
  readonly limit: number | null;
};

function Gates({ of }: { readonly of: RolloutDetail }) {
  const rows = ROLLOUT_GATES.map(
    (gate): GateRow => ({ gate, counted: of.counted[gate], limit: of.gates[gate] ?? null }),
  );
  return (
    <Panel title={TEXTS.gates}>
      <DataTable label={TEXTS.gates} columns={GATES} rows={rows} rowKey={(one) => one.gate} />
    </Panel>
  );
}

const GATES: readonly Column<GateRow>[] = [
  {
    ...{ id: 'gate', title: TEXTS.gate, width: 180, grows: true },
    cell: ({ gate, counted, limit }) => (
      <Mark tone={limit === null ? 'stale' : counted > limit ? 'bad' : 'good'}>
        {TEXTS.gateWords[gate]}
      </Mark>
    ),
  },
  {
    ...{ id: 'counted', title: TEXTS.counted, width: 70, isNumber: true },
    cell: (one) => exact(one.counted),
  },
  {
    ...{ id: 'limit', title: TEXTS.limit, width: 90, isNumber: true },
    cell: ({ limit }) => (limit === null ? TEXTS.notWatched : exact(limit)),
  },
];
const STAGES: readonly Column<RolloutDetail['stages'][number]>[] = [
  {
    ...{ id: 'percent', title: TEXTS.percent, width: 90 },
    cell: ({ percent, sensor_ids: named }) =>
      named.length === 0 ? `${percent} %` : `${percent} % + ${named.length}`,
  },
  {
    ...{ id: 'wait', title: TEXTS.watched, width: 100 },
    cell: (one) => span(one.wait_seconds * SECOND_MS),
  },
  {
    ...{ id: 'begun', title: TEXTS.begun, width: 110, grows: true },
    cell: (one) => (one.begun_at === null ? TEXTS.notBegun : <Ago at={one.begun_at} />),
  },
];
const SENSORS: readonly Column<RolloutSensor>[] = [
  {
    ...{ id: 'sensor', title: TEXTS.sensor, width: 150 },
    cell: (one) => (
      <Link to="/sensors/$id/policies" params={{ id: one.sensor_id }} title={one.sensor_id}>
        {shortId(one.sensor_id)}
      </Link>
    ),
  },
  {
    ...{ id: 'standing', title: TEXTS.standing, width: 130 },
    cell: (one) => <Mark tone={policyTone(one.standing)}>{stateWord(one.standing)}</Mark>,
  },
  {
    ...{ id: 'heartbeat', title: TEXTS.heartbeat, width: 130 },
    cell: (one) => <Ago at={one.last_heartbeat_at} />,
  },
  {
    ...{ id: 'reason', title: TEXTS.reason, width: 240, grows: true },
    cell: (one) => <bdi>{one.reason ?? ''}</bdi>,
  },
];
const MOVES: readonly Column<RolloutMove>[] = [
  { id: 'at', title: TEXTS.at, width: 120, cell: (one) => <Ago at={one.at} /> },
  {
    ...{ id: 'move', title: TEXTS.fromTo, width: 260, grows: true },
    cell: ({ from, to }) =>
      from === null ? stateWord(to) : `${stateWord(from)} → ${stateWord(to)}`,
  },
  {
    ...{ id: 'stage', title: TEXTS.stage, width: 70, isNumber: true },
    cell: (one) => one.stage + 1,
  },
  { id: 'by', title: TEXTS.by, width: 180, cell: (one) => <bdi>{one.actor}</bdi> },
];
