// One's own API keys: made here, their secret shown once, revoked one by one.
import { Button, Modal, MultiSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import { KEY_SCOPES } from '../../../machines/trust/api-key.rules.ts';
import { call, useApi } from '../api/client.ts';
import type { ApiKey } from '../api/contract.ts';
import { CodeLine } from '../design/copy.tsx';
import { Failure, useForm } from '../design/form.tsx';
import { Mark } from '../design/shape.tsx';
import { Answered, Nothing } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { SESSION_TEXTS as TEXTS } from './texts.ts';

const KEYS_SHOWN = 100;
const TONES = { usable: 'good', expired: 'stale', revoked: 'gone' } as const;

/** The columns of keys, whoever they belong to. */
export function keyColumns(onRevoke: ((key: ApiKey) => void) | null): readonly Column<ApiKey>[] {
  return [
    { id: 'name', title: TEXTS.keyName, width: 180, grows: true, cell: (key) => key.name },
    {
      ...{ id: 'scopes', title: TEXTS.keyScopes, width: 220 },
      cell: (key) => <span title={key.scopes.join(', ')}>{key.scopes.join(', ')}</span>,
    },
    {
      ...{ id: 'status', title: TEXTS.status, width: 110 },
      cell: (key) => <Mark tone={TONES[key.status]}>{key.status}</Mark>,
    },
    { id: 'used', title: TEXTS.lastUsed, width: 130, cell: (key) => <Ago at={key.last_used_at} /> },
    { id: 'ends', title: TEXTS.expires, width: 130, cell: (key) => <Ago at={key.expires_at} /> },
    {
      ...{ id: 'revoke', title: '', width: 80 },
      cell: (key) =>
        key.status === 'usable' &&
        onRevoke !== null && (
          <button type="button" className="fs-row-button" onClick={() => onRevoke(key)}>
            {TEXTS.revoke}
          </button>
        ),
    },
  ];
}

export function OwnKeys() {
  const keys = useApi('GET /api-keys', { query: { limit: KEYS_SHOWN } });
  const [isMaking, setMaking] = useState(false);
  const revoke = async ({ key_id: id }: ApiKey) => {
    await call('DELETE /api-keys/:id', { params: { id } });
    await keys.refetch();
  };
  const make = <Button onClick={() => setMaking(true)}>{TEXTS.newKey}</Button>;
  return (
    <section className="fs-section" aria-label={TEXTS.keys}>
      <div className="fs-page-head">
        <h2>{TEXTS.keys}</h2>
        {(keys.data?.items.length ?? 0) > 0 && make}
      </div>
      <Answered of={keys} rows={2}>
        {({ items }) =>
          items.length === 0 ? (
            <Nothing title={TEXTS.noKeys} action={make}>
              {TEXTS.keysHint}
            </Nothing>
          ) : (
            <DataTable
              label={TEXTS.keys}
              columns={keyColumns((key) => void revoke(key))}
              rows={items}
              rowKey={(key) => key.key_id}
            />
          )
        }
      </Answered>
      <Modal opened={isMaking} onClose={() => setMaking(false)} title={TEXTS.newKey}>
        <NewKey onMade={() => void keys.refetch()} onDone={() => setMaking(false)} />
      </Modal>
    </section>
  );
}

function NewKey({ onMade, onDone }: { readonly onMade: () => void; readonly onDone: () => void }) {
  const [scopes, setScopes] = useState<string[]>([]);
  const [secret, setSecret] = useState<string | null>(null);
  const { isBusy, failure, submit } = useForm(async ({ name = '' }) => {
    const chosen = KEY_SCOPES.filter((scope) => scopes.includes(scope));
    const made = await call('POST /api-keys', { body: { name, scopes: chosen } });
    setSecret(made.secret);
    onMade();
  });
  if (secret !== null) {
    return (
      <div className="fs-form">
        <p>{TEXTS.keyCreated}</p>
        <CodeLine value={secret} label={TEXTS.keys} />
        <Button onClick={onDone}>{TEXTS.codesKept}</Button>
      </div>
    );
  }
  return (
    <form onSubmit={submit} className="fs-form">
      <p className="fs-quiet">{TEXTS.keysHint}</p>
      <TextInput name="name" label={TEXTS.keyName} required data-autofocus />
      <MultiSelect
        label={TEXTS.keyScopes}
        data={[...KEY_SCOPES]}
        value={scopes}
        onChange={setScopes}
        searchable
        required
      />
      <Failure text={failure} />
      <Button type="submit" loading={isBusy} disabled={scopes.length === 0}>
        {TEXTS.newKey}
      </Button>
    </form>
  );
}
