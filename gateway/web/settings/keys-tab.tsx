// The API keys of everybody, and the enrolment tokens: what was made, whether it still works, and its end.
import { call, useApi } from '../api/client.ts';
import type { AnswerOf } from '../api/contract.ts';
import { Mark, type Tone } from '../design/shape.tsx';
import { Answered, Nothing } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { keyColumns } from '../session/api-keys.tsx';
import { useMay } from '../session/session.ts';
import { SETTINGS_TEXTS as TEXTS } from './texts.ts';

const SHOWN = 200;
type Token = AnswerOf<'GET /enrollment-tokens'>['items'][number];
const TONES: Readonly<Record<Token['status'], Tone>> = {
  ...{ usable: 'good', consumed: 'stale', expired: 'stale', revoked: 'gone' },
};

export function KeysTab() {
  const keys = useApi('GET /all-api-keys', { query: { limit: SHOWN } });
  const may = useMay();
  const revoke = async (id: string) => {
    await call('DELETE /all-api-keys/:id', { params: { id } });
    await keys.refetch();
  };
  return (
    <Answered of={keys}>
      {({ items }) =>
        items.length === 0 ? (
          <Nothing title={TEXTS.noKeys} />
        ) : (
          <DataTable
            label={TEXTS.keys}
            columns={keyColumns(may('users:write') ? (key) => void revoke(key.key_id) : null)}
            rows={items}
            rowKey={(key) => key.key_id}
          />
        )
      }
    </Answered>
  );
}

export function TokensTab() {
  const tokens = useApi('GET /enrollment-tokens', { query: { limit: SHOWN } });
  const may = useMay();
  const revoke = async (id: string) => {
    await call('DELETE /enrollment-tokens/:id', { params: { id } });
    await tokens.refetch();
  };
  const columns: readonly Column<Token>[] = [
    { id: 'note', title: TEXTS.note, width: 220, grows: true, cell: (token) => token.note || '–' },
    { id: 'kind', title: TEXTS.kind, width: 90, cell: (token) => token.kind },
    {
      ...{ id: 'status', title: TEXTS.status, width: 110 },
      cell: (token) => <Mark tone={TONES[token.status]}>{token.status}</Mark>,
    },
    {
      id: 'made',
      title: TEXTS.created,
      width: 130,
      cell: (token) => <Ago at={token.created_at} />,
    },
    {
      id: 'ends',
      title: TEXTS.expires,
      width: 130,
      cell: (token) => <Ago at={token.expires_at} />,
    },
    {
      ...{ id: 'revoke', title: '', width: 80 },
      cell: (token) =>
        token.status === 'usable' &&
        may('tokens:write') && (
          <button
            type="button"
            className="fs-row-button"
            onClick={() => void revoke(token.token_id)}
          >
            {TEXTS.revoke}
          </button>
        ),
    },
  ];
  return (
    <Answered of={tokens}>
      {({ items }) =>
        items.length === 0 ? (
          <Nothing title={TEXTS.noTokens} />
        ) : (
          <DataTable
            label={TEXTS.tokens}
            columns={columns}
            rows={items}
            rowKey={(token) => token.token_id}
          />
        )
      }
    </Answered>
  );
}
