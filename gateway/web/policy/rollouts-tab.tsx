// Every rollout, and the start of one.
import { Button, Checkbox, Modal, NumberInput, Select, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { Rollout } from '../api/contract.ts';
import { useTopic } from '../api/live.ts';
import { Failure, useForm } from '../design/form.tsx';
import { Mark } from '../design/shape.tsx';
import { Answered, Nothing } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { numbersIn } from './numbers-in.ts';
import { assignmentOf, NOTHING_CHOSEN, TargetFields } from './target-form.tsx';
import { POLICY_TEXTS as TEXTS } from './texts.ts';
import { policyTone, stateWord, targetText } from './words.ts';

const SHOWN = 320;
const MINUTE_S = 60;
const WAIT_MAX_MINUTES = 10_080;
type OnFailure = 'return' | 'halt';

export function RolloutsTab() {
  const rollouts = useApi('GET /rollouts', { query: { limit: SHOWN } });
  useTopic({ topic: 'rollouts' }, () => void rollouts.refetch());
  const may = useMay();
  const [isStarting, setStarting] = useState(false);
  const start = may('assignments:write') && (
    <Button onClick={() => setStarting(true)}>{TEXTS.startRollout}</Button>
  );
  return (
    <>
      <Answered of={rollouts}>
        {({ items }) =>
          items.length === 0 ? (
            <Nothing title={TEXTS.noRollouts} action={start}>
              {TEXTS.rolloutsHint}
            </Nothing>
          ) : (
            <>
              <div className="fs-toolbar">
                {start}
                <span className="fs-quiet">{TEXTS.rolloutsHint}</span>
              </div>
              <DataTable
                label={TEXTS.rollouts}
                columns={COLUMNS}
                rows={items.toReversed()}
                rowKey={(one) => one.rollout_id}
              />
            </>
          )
        }
      </Answered>
      <Modal opened={isStarting} onClose={() => setStarting(false)} title={TEXTS.startRollout}>
        <Start />
      </Modal>
    </>
  );
}

const COLUMNS: readonly Column<Rollout>[] = [
  {
    ...{ id: 'target', title: TEXTS.target, width: 180, grows: true },
    cell: (one) => (
      <Link to="/policies/rollouts/$id" params={{ id: one.rollout_id }}>
        {targetText(one.target)}
      </Link>
    ),
  },
  { id: 'pack', title: TEXTS.pack, width: 180, cell: (one) => <bdi>{one.pack_name}</bdi> },
  {
    ...{ id: 'version', title: TEXTS.version, width: 70, isNumber: true },
    cell: (one) => one.version,
  },
  {
    ...{ id: 'state', title: TEXTS.state, width: 130 },
    cell: (one) => <Mark tone={policyTone(one.state)}>{stateWord(one.state)}</Mark>,
  },
  {
    ...{ id: 'stage', title: TEXTS.stage, width: 80 },
    cell: (one) => TEXTS.stageOf(one.stage + 1, one.stages.length),
  },
  {
    ...{ id: 'gate', title: TEXTS.gate, width: 180 },
    cell: ({ failed }) => (failed === null ? TEXTS.none : TEXTS.gateWords[failed.gate]),
  },
  {
    ...{ id: 'started', title: TEXTS.started, width: 120 },
    cell: (one) => <Ago at={one.started_at} />,
  },
  { id: 'by', title: TEXTS.by, width: 150, cell: (one) => <bdi>{one.started_by}</bdi> },
];

function Start() {
  const navigate = useNavigate();
  const cache = useQueryClient();
  const [chosen, setChosen] = useState(NOTHING_CHOSEN);
  const [canary, setCanary] = useState<string | number>(5);
  const [wait, setWait] = useState<string | number>(10);
  const [asks, setAsks] = useState(false);
  const [onFailure, setOnFailure] = useState<OnFailure>('return');
  const wanted = assignmentOf(chosen);
  const { isBusy, failure, submit } = useForm(async ({ waves = '' }) => {
    if (wanted === null) return;
    const shared = { wait_seconds: Number(wait) * MINUTE_S, needs_word: asks };
    const percents = [Number(canary), ...numbersIn(waves).filter((one) => one < 100)];
    const stages = [
      ...percents.map((percent) => ({ percent, ...shared })),
      { percent: 100, ...shared, needs_word: false },
    ];
    const made = await call('POST /rollouts', {
      body: { ...wanted, stages, on_failure: onFailure },
    });
    await cache.invalidateQueries();
    await navigate({ to: '/policies/rollouts/$id', params: { id: made.rollout_id } });
  });
  return (
    <form onSubmit={submit} className="fs-form">
      <TargetFields chosen={chosen} onChange={setChosen} />
      <NumberInput
        label={TEXTS.canary}
        value={canary}
        onChange={setCanary}
        min={1}
        max={99}
        allowDecimal={false}
      />
      <TextInput
        name="waves"
        label={TEXTS.waves}
        description={TEXTS.wavesHint}
        defaultValue="25, 50"
      />
      <NumberInput
        label={TEXTS.wait}
        value={wait}
        onChange={setWait}
        min={0}
        max={WAIT_MAX_MINUTES}
        allowDecimal={false}
      />
      <Checkbox
        label={TEXTS.ask}
        checked={asks}
        onChange={({ currentTarget }) => setAsks(currentTarget.checked)}
      />
      <Select
        label={TEXTS.onFailure}
        allowDeselect={false}
        data={Object.entries(TEXTS.failureWays).map(([value, label]) => ({ value, label }))}
        value={onFailure}
        onChange={(next) => setOnFailure(next as OnFailure)}
      />
      <Failure text={failure} />
      <Button type="submit" loading={isBusy} disabled={wanted === null}>
        {TEXTS.startRollout}
      </Button>
    </form>
  );
}
