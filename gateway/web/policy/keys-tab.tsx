// The keys that nodes trust for policies, how they came to be, and changing them.
import { Alert, Button, Modal, MultiSelect, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { SigningKeys } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { Panel } from '../design/page.tsx';
import { Answered } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { useMay } from '../session/session.ts';
import { POLICY_TEXTS as TEXTS } from './texts.ts';

const PEM_MAX = 1_024;
type Key = SigningKeys['keys'][number] & { readonly isOwn: boolean };
type Statement = SigningKeys['rotations'][number];

export function KeysTab() {
  const keys = useApi('GET /signing-keys', {});
  return (
    <>
      <span className="fs-quiet">{TEXTS.keysHint}</span>
      <Answered of={keys}>{(data) => <Shown of={data} />}</Answered>
    </>
  );
}

function Shown({ of }: { readonly of: SigningKeys }) {
  const may = useMay();
  const [isRotating, setRotating] = useState(false);
  const own = of.own_key_id;
  const rows = of.keys.map((one) => ({ ...one, isOwn: one.key_id === own }));
  return (
    <>
      <Alert
        color={own === null ? 'green' : 'blue'}
        variant="light"
        role="note"
        title={own === null ? TEXTS.offlineSigning : TEXTS.online}
      >
        {own === null ? TEXTS.offlineMeans : TEXTS.onlineMeans}
      </Alert>
      {own !== null && may('signing-keys:write') && (
        <div className="fs-toolbar">
          <Button onClick={() => setRotating(true)}>{TEXTS.rotate}</Button>
        </div>
      )}
      <DataTable label={TEXTS.keys} columns={KEYS} rows={rows} rowKey={(one) => one.key_id} />
      {of.retired_key_ids.length > 0 && (
        <Panel title={TEXTS.retired}>
          <ul>
            {of.retired_key_ids.map((id) => (
              <li key={id} className="fs-mono">
                {id}
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {of.rotations.length > 0 && (
        <Panel title={TEXTS.rotations}>
          <DataTable
            label={TEXTS.rotations}
            columns={STATEMENTS}
            rows={of.rotations}
            rowKey={(one) => String(one.sequence)}
          />
        </Panel>
      )}
      <Modal opened={isRotating} onClose={() => setRotating(false)} title={TEXTS.rotate}>
        <Rotate of={of} onDone={() => setRotating(false)} />
      </Modal>
    </>
  );
}

const KEYS: readonly Column<Key>[] = [
  {
    ...{ id: 'key', title: TEXTS.key, width: 180, grows: true },
    cell: (one) => <span className="fs-mono">{one.key_id}</span>,
  },
  {
    ...{ id: 'held', title: TEXTS.held, width: 150 },
    cell: (one) => (one.isOwn ? TEXTS.here : TEXTS.elsewhere),
  },
];
const STATEMENTS: readonly Column<Statement>[] = [
  {
    ...{ id: 'sequence', title: TEXTS.sequence, width: 80, isNumber: true },
    cell: (one) => one.sequence,
  },
  {
    ...{ id: 'by', title: TEXTS.signedBy, width: 170 },
    cell: (one) => <span className="fs-mono">{one.by_key_id}</span>,
  },
  {
    ...{ id: 'retired', title: TEXTS.retired, width: 200, grows: true },
    cell: (one) => <span className="fs-mono">{one.retired_key_ids.join(' ') || TEXTS.none}</span>,
  },
];

function Rotate({ of, onDone }: { readonly of: SigningKeys; readonly onDone: () => void }) {
  const cache = useQueryClient();
  const [retired, setRetired] = useState<string[]>([]);
  const { isBusy, failure, submit } = useForm(async ({ pem = '' }) => {
    await call('POST /signing-keys', { body: { public_key_pem: pem, retired_key_ids: retired } });
    await cache.invalidateQueries();
    onDone();
  });
  return (
    <form onSubmit={submit} className="fs-form">
      <p>{TEXTS.rotateHint}</p>
      <Textarea
        name="pem"
        label={TEXTS.newKeyPem}
        autosize
        minRows={3}
        maxLength={PEM_MAX}
        required
        data-autofocus
      />
      <MultiSelect
        label={TEXTS.retire}
        description={TEXTS.retireHint}
        data={of.keys.map((one) => one.key_id)}
        value={retired}
        onChange={setRetired}
      />
      <Failure text={failure} />
      <Button type="submit" loading={isBusy}>
        {TEXTS.rotate}
      </Button>
    </form>
  );
}
