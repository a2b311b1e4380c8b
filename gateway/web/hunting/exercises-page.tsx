// Exercises: planned, run, and their results: what was seen of each step, how fast, and where the rest was lost.
import { Button, Modal, MultiSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import { EXERCISE_STEPS } from '../../../machines/detection/exercise-steps.ts';
import { call, useApi } from '../api/client.ts';
import type { Exercise } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { exact, shortId } from '../design/numbers.ts';
import { PageFrame, Panel } from '../design/page.tsx';
import { Mark } from '../design/shape.tsx';
import { Answered, Nothing } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { useMay } from '../session/session.ts';
import { HUNTING_TEXTS as TEXTS } from './texts.ts';

const SHOWN = 100;
const SENSORS_SHOWN = 500;
const REFRESH_MS = 10_000;
type Result = Exercise['results'][number];

export function ExercisesPage() {
  const query = { limit: SHOWN };
  const all = useApi('GET /exercises', { query }, { refetchInterval: REFRESH_MS });
  const [isPlanning, setPlanning] = useState(false);
  const mayWrite = useMay()('exercises:write');
  const plan = mayWrite && <Button onClick={() => setPlanning(true)}>{TEXTS.plan}</Button>;
  return (
    <PageFrame title={TEXTS.exercises} about={TEXTS.exercisesAbout} action={plan}>
      <Answered of={all}>
        {({ items }) =>
          items.length === 0 ? (
            <Nothing title={TEXTS.noExercises} action={plan}>
              {TEXTS.exerciseHint}
            </Nothing>
          ) : (
            items.map((one) => (
              <ExercisePanel
                key={one.exercise_id}
                exercise={one}
                mayWrite={mayWrite}
                onDone={() => void all.refetch()}
              />
            ))
          )
        }
      </Answered>
      <Modal opened={isPlanning} onClose={() => setPlanning(false)} title={TEXTS.plan}>
        <Plan
          onDone={() => {
            setPlanning(false);
            void all.refetch();
          }}
        />
      </Modal>
    </PageFrame>
  );
}

function Plan({ onDone }: { readonly onDone: () => void }) {
  const sensors = useApi('GET /sensors', { query: { limit: SENSORS_SHOWN } });
  const [steps, setSteps] = useState<string[]>([]);
  const [chosen, setChosen] = useState<string[]>([]);
  const { isBusy, failure, submit } = useForm(async ({ name = '', minutes = '' }) => {
    await call('POST /exercises', {
      body: {
        ...{ name, window_secs: Number(minutes) * 60, sensor_ids: chosen },
        steps: steps.map((step) => ({ step })),
      },
    });
    onDone();
  });
  return (
    <form onSubmit={submit} className="fs-form">
      <TextInput name="name" label={TEXTS.name} required maxLength={128} />
      <MultiSelect
        label={TEXTS.steps}
        searchable
        data={EXERCISE_STEPS.map(({ step, technique, title }) => ({
          ...{ value: step, label: `${technique} ${title}` },
        }))}
        value={steps}
        onChange={setSteps}
      />
      <MultiSelect
        label={TEXTS.sensors}
        searchable
        data={(sensors.data?.items ?? []).map(({ sensor_id, node_name }) => ({
          ...{ value: sensor_id, label: node_name },
        }))}
        value={chosen}
        onChange={setChosen}
      />
      <TextInput name="minutes" label={TEXTS.windowMinutes} defaultValue="30" pattern="\d+" />
      <Failure text={failure} />
      <Button type="submit" loading={isBusy}>
        {TEXTS.plan}
      </Button>
    </form>
  );
}

function ExercisePanel({
  exercise,
  mayWrite,
  onDone,
}: {
  readonly exercise: Exercise;
  readonly mayWrite: boolean;
  readonly onDone: () => void;
}) {
  const { state, seen, expected, median_ms: median, steps, results } = exercise;
  return (
    <Panel title={exercise.name}>
      <div className="fs-toolbar">
        <span>{TEXTS.exerciseStates[state] ?? state}</span>
        <Mark tone={seen === expected ? 'good' : 'warn'}>
          {`${TEXTS.seen} ${exact(seen)} / ${exact(expected)}`}
        </Mark>
        {median !== null && (
          <span className="fs-meta">{`${TEXTS.median} ${exact(median / 1_000)} s`}</span>
        )}
        {mayWrite && <Acts exercise={exercise} onDone={onDone} />}
      </div>
      {state === 'running' && (
        <>
          <p className="fs-meta">{TEXTS.runThese}</p>
          <pre className="fs-mono">{steps.map(({ command }) => command).join('\n')}</pre>
        </>
      )}
      {results.length > 0 && (
        <DataTable
          label={exercise.name}
          columns={COLUMNS}
          rows={results}
          rowKey={(row) => `${row.sensor_id}/${row.step}`}
        />
      )}
    </Panel>
  );
}

function Acts({ exercise, onDone }: { readonly exercise: Exercise; readonly onDone: () => void }) {
  const params = { id: exercise.exercise_id };
  const { isBusy, failure, run } = useForm(async ({ act }) => {
    if (act === 'start') await call('POST /exercises/:id/start', { params });
    else if (act === 'end') await call('POST /exercises/:id/end', { params });
    else await call('POST /exercises/:id/abandon', { params });
    onDone();
  });
  const { state } = exercise;
  const acts = [
    ...(state === 'planned' ? [['start', TEXTS.start] as const] : []),
    ...(state === 'running' ? [['end', TEXTS.end] as const] : []),
    ...(state === 'scored' || state === 'abandoned' ? [] : [['abandon', TEXTS.abandon] as const]),
  ];
  return (
    <>
      {acts.map(([act, label]) => (
        <Button
          key={act}
          size="compact-sm"
          variant="default"
          loading={isBusy}
          onClick={() => run({ act })}
        >
          {label}
        </Button>
      ))}
      <Failure text={failure} />
    </>
  );
}

const COLUMNS: readonly Column<Result>[] = [
  { id: 'step', title: TEXTS.step, width: 200, grows: true, cell: (row) => row.step },
  { id: 'technique', title: TEXTS.technique, width: 110, cell: (row) => row.technique ?? '–' },
  { id: 'sensor', title: TEXTS.sensors, width: 130, cell: (row) => shortId(row.sensor_id) },
  {
    ...{ id: 'expected', title: TEXTS.expected, width: 140 },
    cell: (row) => [row.expected, row.expected_of ?? ''].join(' '),
  },
  {
    ...{ id: 'seen', title: TEXTS.seen, width: 140 },
    cell: ({ is_seen: isSeen, missed_because: miss }) => (
      <Mark tone={isSeen ? 'good' : 'bad'}>
        {isSeen ? TEXTS.yes : (TEXTS.misses[miss ?? ''] ?? '–')}
      </Mark>
    ),
  },
  {
    ...{ id: 'after', title: TEXTS.after, width: 90, isNumber: true },
    cell: ({ detected_after_ms: ms }) => (ms === null ? '–' : `${exact(ms / 1_000)} s`),
  },
];
