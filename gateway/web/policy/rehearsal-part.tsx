// What an assignment matched and would have stopped, policy by policy, and the act that enforces it. decision: D125
import { Button, Modal, Select } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { Rehearsal } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { exact, shortId } from '../design/numbers.ts';
import { Facts } from '../design/page.tsx';
import { Mark } from '../design/shape.tsx';
import { Answered } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { POLICY_TEXTS as TEXTS } from './texts.ts';
import { targetText } from './words.ts';

const route = getRouteApi('/shell/policies/assignments/$kind/$target');
const RANGE_DEFAULT = 'now-7d';
type Policy = Rehearsal['policies'][number];

export function RehearsalPart() {
  const { kind, target } = route.useParams();
  const { from = RANGE_DEFAULT } = route.useSearch();
  const navigate = useNavigate();
  const params = { kind, target };
  const found = useApi('GET /assignments/:kind/:target/rehearsal', { params, query: { from } });
  const go = (next: string | null) =>
    void navigate({
      ...{ to: '/policies/assignments/$kind/$target', params, replace: true },
      search: next === null || next === RANGE_DEFAULT ? {} : { from: next },
    });
  return (
    <>
      <h2 className="fs-break">{TEXTS.rehearsalOf(targetText({ kind, id: target }))}</h2>
      <Select
        size="xs"
        w={160}
        aria-label={TEXTS.range}
        allowDeselect={false}
        data={Object.entries(TEXTS.ranges).map(([value, label]) => ({ value, label }))}
        value={from}
        onChange={go}
      />
      <Answered of={found}>
        {(data) => (
          <>
            <Summary of={data} />
            <DataTable
              label={TEXTS.policies}
              columns={columnsOf(data)}
              rows={data.policies}
              rowKey={(one) => one.name}
            />
          </>
        )}
      </Answered>
    </>
  );
}

function Summary({ of }: { readonly of: Rehearsal }) {
  const may = useMay();
  const [isAsking, setAsking] = useState(false);
  const { assignment } = of;
  const pack = (
    <Link to="/policies/packs/$id" params={{ id: assignment.pack_id }}>
      <bdi>{`${assignment.pack_name} ${assignment.version}`}</bdi>
    </Link>
  );
  const isMonitored = assignment.mode === 'monitor';
  return (
    <>
      <Facts
        facts={[
          [TEXTS.pack, pack],
          [TEXTS.mode, assignment.mode],
          [TEXTS.sensors, exact(of.sensors)],
          [TEXTS.matched, exact(of.matched)],
          [TEXTS.would, exact(of.would_have_acted)],
        ]}
      />
      {!isMonitored && <p className="fs-quiet">{TEXTS.isEnforced}</p>}
      {isMonitored && may('assignments:write') && (
        <div className="fs-toolbar">
          <Button onClick={() => setAsking(true)}>{TEXTS.enforce}</Button>
        </div>
      )}
      <Modal opened={isAsking} onClose={() => setAsking(false)} title={TEXTS.enforceTitle}>
        <Enforce of={of} onDone={() => setAsking(false)} />
      </Modal>
    </>
  );
}

/** Says first what it would have stopped in the last seven days, whatever range is shown. */
function Enforce({ of, onDone }: { readonly of: Rehearsal; readonly onDone: () => void }) {
  const cache = useQueryClient();
  const { target, assignment_id } = of.assignment;
  const params = { kind: target.kind, target: target.id };
  const week = useApi('GET /assignments/:kind/:target/rehearsal', { params, query: {} });
  const { isBusy, failure, run } = useForm(async () => {
    await call('POST /assignments/:kind/:target/enforce', { params, body: { assignment_id } });
    await cache.invalidateQueries();
    onDone();
  });
  return (
    <Answered of={week} rows={2}>
      {(data) => (
        <div className="fs-form">
          <p>{TEXTS.enforceHint(exact(data.would_have_acted), exact(data.sensors))}</p>
          <Failure text={failure} />
          <Button color="red" loading={isBusy} onClick={() => run()}>
            {TEXTS.enforce}
          </Button>
        </div>
      )}
    </Answered>
  );
}

const columnsOf = ({ from, to }: Rehearsal): readonly Column<Policy>[] => [
  {
    ...{ id: 'name', title: TEXTS.policyName, width: 220, grows: true },
    cell: (one) => <span className="fs-mono">{one.name}</span>,
  },
  {
    ...{ id: 'matched', title: TEXTS.matched, width: 90, isNumber: true },
    cell: (one) => exact(one.matched),
  },
  {
    ...{ id: 'would', title: TEXTS.wouldHave, width: 180 },
    cell: ({ acts, would_have_acted: count }) =>
      count === 0 ? (
        TEXTS.none
      ) : (
        <Mark tone="warn">
          {Object.entries(acts)
            .map(([act, times]) => `${act} ${exact(times)}`)
            .join(', ')}
        </Mark>
      ),
  },
  {
    ...{ id: 'sensors', title: TEXTS.sensors, width: 80, isNumber: true },
    cell: (one) => exact(one.sensors),
  },
  {
    ...{ id: 'mostly', title: TEXTS.mostly, width: 130 },
    cell: ({ top_sensors: [first] }) =>
      first === undefined ? (
        TEXTS.none
      ) : (
        <Link to="/sensors/$id/policies" params={{ id: first.sensor_id }} title={first.sensor_id}>
          {shortId(first.sensor_id)}
        </Link>
      ),
  },
  { id: 'last', title: TEXTS.last, width: 120, cell: (one) => <Ago at={one.last_at} /> },
  {
    ...{ id: 'events', title: '', width: 80 },
    cell: (one) =>
      one.matched === 0 ? null : (
        <Link to="/events" search={{ from, to, q: `policy.name:${one.name}` }}>
          {TEXTS.events}
        </Link>
      ),
  },
];
