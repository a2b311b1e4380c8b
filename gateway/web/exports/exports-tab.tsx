// Where days of the event store go as Parquet files, and how each of them fares.
import { Button, Checkbox, Drawer, Modal } from '@mantine/core';
import { useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { AnswerOf, ExportRun, ExportTarget } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { bytes as bytesText, exact } from '../design/numbers.ts';
import { Facts, Panel } from '../design/page.tsx';
import { Mark, type Tone } from '../design/shape.tsx';
import { Answered, Nothing } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { At } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { TargetForm } from './target-form.tsx';
import { EXPORT_TEXTS as TEXTS } from './texts.ts';

const SHOWN = 100;
const TONES: Readonly<Record<string, Tone>> = {
  ...{ waiting: 'soon', counting: 'soon', copying: 'soon', sealing: 'soon' },
  ...{ done: 'good', dead: 'bad' },
};

export function ExportsTab() {
  const found = useApi('GET /exports/target', {});
  const mayWrite = useMay()('exports:write');
  const [isChanging, setChanging] = useState(false);
  const change = (text: string) =>
    mayWrite && <Button onClick={() => setChanging(true)}>{text}</Button>;
  return (
    <Answered of={found}>
      {({ target }) => (
        <>
          {target === null ? (
            <Nothing title={TEXTS.none} action={change(TEXTS.setUp)}>
              {TEXTS.hint}
            </Nothing>
          ) : (
            <>
              <Target target={target} mayWrite={mayWrite} change={change(TEXTS.change)} />
              <Runs mayWrite={mayWrite} />
            </>
          )}
          <Modal opened={isChanging} onClose={() => setChanging(false)} title={TEXTS.title}>
            <TargetForm
              target={target}
              onDone={() => {
                setChanging(false);
                void found.refetch();
              }}
            />
          </Modal>
        </>
      )}
    </Answered>
  );
}

function Target({
  target,
  mayWrite,
  change,
}: {
  readonly target: ExportTarget;
  readonly mayWrite: boolean;
  readonly change: React.ReactNode;
}) {
  const [told, setTold] = useState<AnswerOf<'POST /exports/target/test'> | null>(null);
  const test = useForm(async () => setTold(await call('POST /exports/target/test', {})));
  return (
    <Panel title={TEXTS.title}>
      <p className="fs-quiet">{TEXTS.hint}</p>
      <Facts
        facts={[
          [
            TEXTS.state,
            <Mark key="on" tone={target.is_on ? 'good' : 'stale'}>
              {target.is_on ? TEXTS.on : TEXTS.off}
            </Mark>,
          ],
          [
            TEXTS.where,
            target.s3 === null ? TEXTS.directory : `${target.s3.endpoint}/${target.s3.bucket}`,
          ],
          [TEXTS.prefix, target.prefix === '' ? '-' : target.prefix],
          [TEXTS.fromDay, target.from_day],
          [TEXTS.tables, target.tables.join(', ')],
        ]}
      />
      <Failure text={test.failure} />
      {told !== null && <Mark tone={told.is_written ? 'good' : 'bad'}>{told.detail}</Mark>}
      {mayWrite && (
        <div className="fs-toolbar">
          {change}
          <Button variant="default" loading={test.isBusy} onClick={() => test.run()}>
            {TEXTS.test}
          </Button>
        </div>
      )}
    </Panel>
  );
}

function Runs({ mayWrite }: { readonly mayWrite: boolean }) {
  const [isDead, setDead] = useState(false);
  const [shown, setShown] = useState<string | null>(null);
  const runs = useApi('GET /exports', {
    query: { limit: SHOWN, ...(isDead ? { state: 'dead' as const } : {}) },
  });
  return (
    <Panel title={TEXTS.runs}>
      <div className="fs-toolbar">
        <Checkbox
          label={TEXTS.onlyDead}
          checked={isDead}
          onChange={(event) => setDead(event.currentTarget.checked)}
        />
      </div>
      <Answered of={runs}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="fs-quiet">{TEXTS.noRuns}</p>
          ) : (
            <DataTable
              label={TEXTS.runs}
              columns={columnsOf(setShown)}
              rows={items}
              rowKey={(row) => row.export_id}
            />
          )
        }
      </Answered>
      <Drawer
        opened={shown !== null}
        onClose={() => setShown(null)}
        position="right"
        size="lg"
        title={TEXTS.export}
      >
        {shown !== null && (
          <OneRun id={shown} mayWrite={mayWrite} onChange={() => void runs.refetch()} />
        )}
      </Drawer>
    </Panel>
  );
}

function columnsOf(onShow: (id: string) => void): readonly Column<ExportRun>[] {
  return [
    {
      ...{ id: 'day', title: TEXTS.day, width: 120 },
      cell: (row) => (
        <button type="button" className="fs-row-button" onClick={() => onShow(row.export_id)}>
          {row.day}
        </button>
      ),
    },
    { id: 'table', title: TEXTS.table, width: 180, cell: (row) => row.table },
    {
      ...{ id: 'state', title: TEXTS.state, width: 110 },
      cell: (row) => <Mark tone={TONES[row.state] ?? 'stale'}>{row.state}</Mark>,
    },
    {
      ...{ id: 'rows', title: TEXTS.rows, width: 110, isNumber: true },
      cell: (row) => (row.rows === null ? '' : exact(row.rows)),
    },
    {
      ...{ id: 'parts', title: TEXTS.parts, width: 80, isNumber: true },
      cell: (row) => (row.parts === null ? '' : `${row.copied}/${row.parts}`),
    },
    {
      ...{ id: 'ended', title: TEXTS.ended, width: 150 },
      cell: (row) => (row.ended_at === null ? '' : <At at={row.ended_at} />),
    },
    {
      ...{ id: 'reason', title: TEXTS.reason, width: 220, grows: true },
      cell: (row) => row.reason ?? '',
    },
  ];
}

function OneRun({
  id,
  mayWrite,
  onChange,
}: {
  readonly id: string;
  readonly mayWrite: boolean;
  readonly onChange: () => void;
}) {
  const one = useApi('GET /exports/:id', { params: { id } });
  const again = useForm(async () => {
    await call('POST /exports/:id/run', { params: { id } });
    await one.refetch();
    onChange();
  });
  return (
    <Answered of={one}>
      {({ run, objects }) => (
        <div className="fs-form">
          <Facts
            facts={[
              [TEXTS.table, run.table],
              [TEXTS.day, run.day],
              [TEXTS.state, run.reason ?? run.state],
              [TEXTS.rows, run.rows === null ? '-' : exact(run.rows)],
            ]}
          />
          <Failure text={again.failure} />
          {mayWrite && (
            <div className="fs-toolbar">
              <Button variant="default" loading={again.isBusy} onClick={() => again.run()}>
                {TEXTS.run}
              </Button>
            </div>
          )}
          <div className="fs-meta">{TEXTS.objects}</div>
          {objects.map(({ name, rows, bytes, sha256 }) => (
            <div key={name}>
              <div className="fs-mono">{name}</div>
              <div className="fs-meta">
                {exact(rows)} {TEXTS.rows.toLowerCase()}, {bytesText(bytes)}, SHA-256 {sha256}
              </div>
            </div>
          ))}
        </div>
      )}
    </Answered>
  );
}
