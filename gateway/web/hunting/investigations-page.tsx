// Every investigation, newest first, and a way to begin one.
import { Button, Modal, Select, Textarea, TextInput } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Severity } from '../../../machines/wire/event.ts';
import { SEVERITIES } from '../../../machines/wire/words.ts';
import { call, useApi } from '../api/client.ts';
import type { Investigation } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { PageFrame } from '../design/page.tsx';
import { SeverityMark } from '../design/severity.tsx';
import { Answered, Nothing } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { HUNTING_TEXTS as TEXTS } from './texts.ts';

const SHOWN = 500;

export function InvestigationsPage() {
  const all = useApi('GET /investigations', { query: { limit: SHOWN } });
  const [isBeginning, setBeginning] = useState(false);
  const navigate = useNavigate();
  const begin = useMay()('investigations:write') && (
    <Button onClick={() => setBeginning(true)}>{TEXTS.begin}</Button>
  );
  return (
    <PageFrame title={TEXTS.investigations} about={TEXTS.investigationsAbout} action={begin}>
      <Answered of={all}>
        {({ items }) =>
          items.length === 0 ? (
            <Nothing title={TEXTS.noInvestigations} action={begin}>
              {TEXTS.investigationHint}
            </Nothing>
          ) : (
            <DataTable
              label={TEXTS.investigations}
              columns={COLUMNS}
              rows={items}
              rowKey={(row) => row.investigation_id}
            />
          )
        }
      </Answered>
      <Modal opened={isBeginning} onClose={() => setBeginning(false)} title={TEXTS.begin}>
        <Begin onDone={(id) => void navigate({ to: '/investigations/$id', params: { id } })} />
      </Modal>
    </PageFrame>
  );
}

function Begin({ onDone }: { readonly onDone: (id: string) => void }) {
  const [severity, setSeverity] = useState<Severity>('medium');
  const { isBusy, failure, submit } = useForm(async ({ name = '', summary = '' }) => {
    const made = await call('POST /investigations', { body: { name, summary, severity } });
    onDone(made.investigation_id);
  });
  return (
    <form onSubmit={submit} className="fs-form">
      <TextInput name="name" label={TEXTS.name} required maxLength={200} />
      <Textarea name="summary" label={TEXTS.summary} autosize minRows={2} maxRows={8} />
      <Select
        label={TEXTS.severity}
        allowDeselect={false}
        data={[...SEVERITIES]}
        value={severity}
        onChange={(next) => setSeverity(next as Severity)}
      />
      <Failure text={failure} />
      <Button type="submit" loading={isBusy}>
        {TEXTS.begin}
      </Button>
    </form>
  );
}

const COLUMNS: readonly Column<Investigation>[] = [
  {
    ...{ id: 'name', title: TEXTS.name, width: 240, grows: true },
    cell: (row) => (
      <Link to="/investigations/$id" params={{ id: row.investigation_id }}>
        <bdi>{row.name}</bdi>
      </Link>
    ),
  },
  {
    ...{ id: 'severity', title: TEXTS.severity, width: 100 },
    cell: (row) => <SeverityMark severity={row.severity} />,
  },
  {
    ...{ id: 'state', title: TEXTS.state, width: 120 },
    cell: ({ state }) => TEXTS.investigationStates[state] ?? state,
  },
  { id: 'assignee', title: TEXTS.assignee, width: 200, cell: (row) => row.assignee ?? '–' },
  { id: 'outcome', title: TEXTS.outcome, width: 130, cell: (row) => row.outcome ?? '–' },
  { id: 'changed', title: TEXTS.changed, width: 130, cell: (row) => <Ago at={row.changed_at} /> },
];
