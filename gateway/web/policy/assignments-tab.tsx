// Who is assigned which version, and the way to what each rehearsed.
import { Button, Modal, NumberInput, Select } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { Assignment } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { Answered, Nothing } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { assignmentOf, NOTHING_CHOSEN, TargetFields } from './target-form.tsx';
import { POLICY_TEXTS as TEXTS } from './texts.ts';
import { targetText } from './words.ts';

const SHOWN = 500;
const PRIORITY_MAX = 1_000;
type Unsupported = 'fail' | 'skip';

export function AssignmentsTab() {
  const assignments = useApi('GET /assignments', { query: { limit: SHOWN } });
  const may = useMay();
  const cache = useQueryClient();
  const [isAdding, setAdding] = useState(false);
  const mayAssign = may('assignments:write');
  const add = mayAssign && <Button onClick={() => setAdding(true)}>{TEXTS.assign}</Button>;
  const ending = useForm(async ({ kind = '', target = '' }) => {
    await call('DELETE /assignments/:kind/:target', { params: { kind, target } });
    await cache.invalidateQueries();
  });
  const end = ({ target }: Assignment) => ending.run({ kind: target.kind, target: target.id });
  return (
    <>
      <Failure text={ending.failure} />
      <Answered of={assignments}>
        {({ items }) =>
          items.length === 0 ? (
            <Nothing title={TEXTS.noAssignments} action={add}>
              {TEXTS.assignmentsHint}
            </Nothing>
          ) : (
            <>
              <div className="fs-toolbar">
                {add}
                <span className="fs-quiet">{TEXTS.assignmentsHint}</span>
              </div>
              <DataTable
                label={TEXTS.assignments}
                columns={columnsOf(mayAssign ? end : null)}
                rows={items}
                rowKey={(one) => one.assignment_id}
              />
            </>
          )
        }
      </Answered>
      <Modal opened={isAdding} onClose={() => setAdding(false)} title={TEXTS.assignTitle}>
        <Assign onDone={() => setAdding(false)} />
      </Modal>
    </>
  );
}

function columnsOf(onEnd: ((one: Assignment) => void) | null): readonly Column<Assignment>[] {
  const shown: readonly Column<Assignment>[] = [
    {
      ...{ id: 'target', title: TEXTS.target, width: 200, grows: true },
      cell: ({ target }) => (
        <Link
          to="/policies/assignments/$kind/$target"
          params={{ kind: target.kind, target: target.id }}
        >
          {targetText(target)}
        </Link>
      ),
    },
    {
      ...{ id: 'pack', title: TEXTS.pack, width: 180 },
      cell: (one) => (
        <Link to="/policies/packs/$id" params={{ id: one.pack_id }}>
          <bdi>{one.pack_name}</bdi>
        </Link>
      ),
    },
    {
      ...{ id: 'version', title: TEXTS.version, width: 70, isNumber: true },
      cell: (one) => one.version,
    },
    { id: 'mode', title: TEXTS.mode, width: 90, cell: (one) => one.mode },
    {
      ...{ id: 'namespaces', title: TEXTS.namespaces, width: 140 },
      cell: (one) => one.namespace_scope?.join(', ') ?? TEXTS.everywhere,
    },
    {
      ...{ id: 'priority', title: TEXTS.priority, width: 70, isNumber: true },
      cell: (one) => one.priority,
    },
    {
      ...{ id: 'created', title: TEXTS.created, width: 120 },
      cell: (one) => <Ago at={one.created_at} />,
    },
    { id: 'by', title: TEXTS.by, width: 150, cell: (one) => <bdi>{one.created_by}</bdi> },
  ];
  if (onEnd === null) return shown;
  return [
    ...shown,
    {
      ...{ id: 'end', title: '', width: 110 },
      cell: (one) => (
        <button type="button" className="fs-row-button" onClick={() => onEnd(one)}>
          {TEXTS.unassign}
        </button>
      ),
    },
  ];
}

function Assign({ onDone }: { readonly onDone: () => void }) {
  const cache = useQueryClient();
  const [chosen, setChosen] = useState(NOTHING_CHOSEN);
  const [priority, setPriority] = useState<string | number>(0);
  const [unsupported, setUnsupported] = useState<Unsupported>('fail');
  const wanted = assignmentOf(chosen);
  const { isBusy, failure, submit } = useForm(async () => {
    if (wanted === null) return;
    await call('POST /assignments', {
      body: { ...wanted, priority: Number(priority), when_unsupported: unsupported },
    });
    await cache.invalidateQueries();
    onDone();
  });
  return (
    <form onSubmit={submit} className="fs-form">
      <TargetFields chosen={chosen} onChange={setChosen} />
      {chosen.kind === 'group' && (
        <NumberInput
          label={TEXTS.priority}
          description={TEXTS.priorityHint}
          value={priority}
          onChange={setPriority}
          min={0}
          max={PRIORITY_MAX}
          allowDecimal={false}
        />
      )}
      <Select
        label={TEXTS.unsupported}
        allowDeselect={false}
        data={[
          { value: 'fail', label: TEXTS.fail },
          { value: 'skip', label: TEXTS.skip },
        ]}
        value={unsupported}
        onChange={(next) => setUnsupported(next as Unsupported)}
      />
      <Failure text={failure} />
      <Button type="submit" loading={isBusy} disabled={wanted === null}>
        {TEXTS.assign}
      </Button>
    </form>
  );
}
