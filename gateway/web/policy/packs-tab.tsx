// Every pack with its newest version.
import { Button, Modal, Select, TextInput } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Flavor } from '../../../machines/wire/scalars.ts';
import { call, useApi } from '../api/client.ts';
import type { Pack } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { Answered, Nothing } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { POLICY_TEXTS as TEXTS } from './texts.ts';

const SHOWN = 256;

export function PacksTab() {
  const packs = useApi('GET /packs', { query: { limit: SHOWN } });
  const may = useMay();
  const [isAdding, setAdding] = useState(false);
  const add = may('policies:write') && (
    <Button onClick={() => setAdding(true)}>{TEXTS.newPack}</Button>
  );
  return (
    <>
      <Answered of={packs}>
        {({ items }) =>
          items.length === 0 ? (
            <Nothing title={TEXTS.noPacks} action={add}>
              {TEXTS.packsHint}
            </Nothing>
          ) : (
            <>
              <div className="fs-toolbar">
                {add}
                <span className="fs-quiet">{TEXTS.packsHint}</span>
              </div>
              <DataTable
                label={TEXTS.packs}
                columns={COLUMNS}
                rows={items}
                rowKey={(pack) => pack.pack_id}
              />
            </>
          )
        }
      </Answered>
      <Modal opened={isAdding} onClose={() => setAdding(false)} title={TEXTS.newPack}>
        <NewPack />
      </Modal>
    </>
  );
}

const COLUMNS: readonly Column<Pack>[] = [
  {
    ...{ id: 'name', title: TEXTS.name, width: 200, grows: true },
    cell: (pack) => (
      <Link to="/policies/packs/$id" params={{ id: pack.pack_id }}>
        <bdi>{pack.name}</bdi>
      </Link>
    ),
  },
  { id: 'flavor', title: TEXTS.flavor, width: 110, cell: (pack) => pack.flavor },
  {
    ...{ id: 'version', title: TEXTS.version, width: 80, isNumber: true },
    cell: (pack) => pack.latest_version ?? TEXTS.none,
  },
  {
    ...{ id: 'created', title: TEXTS.created, width: 130 },
    cell: (pack) => <Ago at={pack.created_at} />,
  },
  {
    ...{ id: 'by', title: TEXTS.by, width: 180 },
    cell: (pack) => <bdi>{pack.created_by}</bdi>,
  },
];

function NewPack() {
  const navigate = useNavigate();
  const [flavor, setFlavor] = useState<Flavor>('standard');
  const { isBusy, failure, submit } = useForm(async ({ name = '' }) => {
    const made = await call('POST /packs', { body: { name, flavor } });
    await navigate({ to: '/policies/packs/$id/draft', params: { id: made.pack_id } });
  });
  return (
    <form onSubmit={submit} className="fs-form">
      <TextInput name="name" label={TEXTS.name} maxLength={128} required data-autofocus />
      <Select
        label={TEXTS.flavor}
        allowDeselect={false}
        data={['standard', 'telecom']}
        value={flavor}
        onChange={(next) => setFlavor(next as Flavor)}
      />
      <Failure text={failure} />
      <Button type="submit" loading={isBusy}>
        {TEXTS.newPack}
      </Button>
    </form>
  );
}
