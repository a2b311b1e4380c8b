// Policies to start with: each with its technique and why, and the way into a draft.
import { Button, Modal, Select } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { LibraryPolicy } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { Answered } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { useMay } from '../session/session.ts';
import { POLICY_TEXTS as TEXTS } from './texts.ts';

const PACKS_SHOWN = 256;

export function LibraryTab() {
  const library = useApi('GET /policies/library', {});
  const [open, setOpen] = useState<LibraryPolicy | null>(null);
  return (
    <>
      <span className="fs-quiet">{TEXTS.libraryHint}</span>
      <Answered of={library}>
        {({ items }) => (
          <DataTable
            label={TEXTS.library}
            columns={columnsOf(setOpen)}
            rows={items}
            rowKey={(one) => one.name}
          />
        )}
      </Answered>
      <Modal
        opened={open !== null}
        onClose={() => setOpen(null)}
        title={open?.name ?? ''}
        size="xl"
      >
        {open !== null && <Shown policy={open} />}
      </Modal>
    </>
  );
}

const columnsOf = (onOpen: (policy: LibraryPolicy) => void): readonly Column<LibraryPolicy>[] => [
  {
    ...{ id: 'name', title: TEXTS.name, width: 220 },
    cell: (one) => (
      <button type="button" className="fs-row-button" onClick={() => onOpen(one)}>
        {one.name}
      </button>
    ),
  },
  { id: 'technique', title: TEXTS.technique, width: 110, cell: (one) => one.technique },
  { id: 'why', title: TEXTS.why, width: 480, grows: true, cell: (one) => one.why },
];

function Shown({ policy }: { readonly policy: LibraryPolicy }) {
  const may = useMay();
  return (
    <div className="fs-form">
      <p>{policy.why}</p>
      <pre className="fs-json">{policy.yaml}</pre>
      {may('policies:write') && <AddTo policy={policy} />}
    </div>
  );
}

function AddTo({ policy }: { readonly policy: LibraryPolicy }) {
  const packs = useApi('GET /packs', { query: { limit: PACKS_SHOWN } });
  const cache = useQueryClient();
  const [packId, setPackId] = useState<string | null>(null);
  const [added, setAdded] = useState<string | null>(null);
  const items = packs.data?.items ?? [];
  const { isBusy, failure, run } = useForm(async () => {
    if (packId === null) return;
    const params = { id: packId };
    const { revision, draft } = await call('GET /packs/:id/draft', { params });
    const others = draft.policies.filter((one) => one.name !== policy.name);
    const policies = [...others, { name: policy.name, yaml: policy.yaml }];
    await call('PUT /packs/:id/draft', {
      params,
      body: { revision, draft: { ...draft, policies } },
    });
    await cache.invalidateQueries();
    setAdded(items.find((one) => one.pack_id === packId)?.name ?? '');
  });
  return (
    <>
      <div className="fs-toolbar">
        <Select
          aria-label={TEXTS.pack}
          placeholder={TEXTS.pack}
          data={items.map((one) => ({ value: one.pack_id, label: one.name }))}
          value={packId}
          onChange={setPackId}
        />
        <Button disabled={packId === null} loading={isBusy} onClick={() => run()}>
          {TEXTS.addTo}
        </Button>
      </div>
      {added !== null && <p role="status">{TEXTS.added(added)}</p>}
      <Failure text={failure} />
    </>
  );
}
