// One's own account: who one is, password, second factor, sessions, API keys.
import { Button, PasswordInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { Session } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { Facts, PageFrame, Panel } from '../design/page.tsx';
import { Answered } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { OwnKeys } from './api-keys.tsx';
import { FactorPanel } from './factor-panel.tsx';
import { SecurityKeysPanel } from './security-keys-panel.tsx';
import { useSession } from './session.ts';
import { SESSION_TEXTS as TEXTS } from './texts.ts';

export function AccountPage() {
  const { user } = useSession();
  return (
    <PageFrame title={TEXTS.account}>
      <div className="fs-grid">
        <Panel title={TEXTS.you}>
          <Facts
            facts={[
              [TEXTS.email, user.email],
              ...(user.display_name === '' ? [] : [['Name', user.display_name] as const]),
              [TEXTS.role, user.role],
            ]}
          />
        </Panel>
        <Panel title={TEXTS.changePassword}>
          {user.can_log_in_with_password ? (
            <PasswordChange />
          ) : (
            <p className="fs-quiet">{TEXTS.noPassword}</p>
          )}
        </Panel>
        <FactorPanel needsPassword={user.can_log_in_with_password} />
        <SecurityKeysPanel />
      </div>
      <Sessions />
      <OwnKeys />
    </PageFrame>
  );
}

function PasswordChange() {
  const [isDone, setDone] = useState(false);
  const cache = useQueryClient();
  const { isBusy, failure, submit } = useForm(async ({ current = '', next = '', again }) => {
    setDone(false);
    if (next !== again) throw new Error(TEXTS.differ);
    const body = { current_password: current, new_password: next };
    await call('POST /auth/password', { body });
    setDone(true);
    await cache.invalidateQueries();
  });
  return (
    <form onSubmit={submit} className="fs-form">
      <PasswordInput
        name="current"
        label={TEXTS.currentPassword}
        autoComplete="current-password"
        required
      />
      <PasswordInput name="next" label={TEXTS.newPassword} autoComplete="new-password" required />
      <PasswordInput name="again" label={TEXTS.again} autoComplete="new-password" required />
      <Failure text={failure} />
      {isDone && <p role="status">{TEXTS.passwordChanged}</p>}
      <Button type="submit" variant="default" loading={isBusy}>
        {TEXTS.setPassword}
      </Button>
    </form>
  );
}

function Sessions() {
  const sessions = useApi('GET /auth/sessions', {});
  const end = async (id: string) => {
    await call('DELETE /auth/sessions/:id', { params: { id } });
    await sessions.refetch();
  };
  const endOthers = async () => {
    await call('POST /auth/sessions/end-others', {});
    await sessions.refetch();
  };
  const columns: readonly Column<Session>[] = [
    { id: 'address', title: TEXTS.address, width: 150, cell: (row) => row.address },
    {
      ...{ id: 'program', title: TEXTS.program, width: 260, grows: true },
      cell: (row) => <span title={row.user_agent}>{row.user_agent}</span>,
    },
    { id: 'method', title: TEXTS.method, width: 110, cell: (row) => row.method.split(':')[0] },
    { id: 'seen', title: TEXTS.lastSeen, width: 130, cell: (row) => <Ago at={row.last_seen_at} /> },
    { id: 'ends', title: TEXTS.expires, width: 130, cell: (row) => <Ago at={row.expires_at} /> },
    {
      ...{ id: 'end', title: '', width: 90 },
      cell: (row) =>
        row.is_current ? (
          <span className="fs-quiet">{TEXTS.thisSession}</span>
        ) : (
          <button type="button" className="fs-row-button" onClick={() => void end(row.session_id)}>
            {TEXTS.end}
          </button>
        ),
    },
  ];
  return (
    <section className="fs-section" aria-label={TEXTS.sessions}>
      <div className="fs-page-head">
        <h2>{TEXTS.sessions}</h2>
        <Button variant="default" onClick={() => void endOthers()}>
          {TEXTS.endOthers}
        </Button>
      </div>
      <Answered of={sessions} rows={2}>
        {({ items }) => (
          <DataTable
            label={TEXTS.sessions}
            columns={columns}
            rows={items}
            rowKey={(row) => row.session_id}
          />
        )}
      </Answered>
    </section>
  );
}
