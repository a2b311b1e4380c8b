// People: who they are, what they may do, and what an administrator does for somebody who lost a way in.
import { Button, Menu, Modal, Select, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { givesMore } from '../../../machines/console/access/account.rules.ts';
import { ROLES, type Role } from '../../../machines/trust/roles.rules.ts';
import { call, useApi } from '../api/client.ts';
import type { User } from '../api/contract.ts';
import { CodeLine } from '../design/copy.tsx';
import { Failure, useForm } from '../design/form.tsx';
import { Mark } from '../design/shape.tsx';
import { Answered } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { SETTINGS_TEXTS as TEXTS } from './texts.ts';

const SHOWN = 500;
type AuditContext = 'link' | 'role' | 'remove' | 'disable' | 'enable' | 'factor' | 'sessions';

export function UsersTab() {
  const users = useApi('GET /users', { query: { limit: SHOWN } });
  const may = useMay();
  const [isAdding, setAdding] = useState(false);
  const [doing, setDoing] = useState<{ readonly what: AuditContext; readonly user: User } | null>(
    null,
  );
  return (
    <>
      {may('users:write') && (
        <div className="fs-toolbar">
          <Button onClick={() => setAdding(true)}>{TEXTS.newUser}</Button>
        </div>
      )}
      <Answered of={users}>
        {({ items }) => (
          <DataTable
            label={TEXTS.users}
            columns={columnsOf(
              may('users:write') ? (what, user) => setDoing({ what, user }) : null,
            )}
            rows={items}
            rowKey={(user) => user.user_id}
          />
        )}
      </Answered>
      <Modal opened={isAdding} onClose={() => setAdding(false)} title={TEXTS.newUser}>
        <NewUser onDone={() => setAdding(false)} />
      </Modal>
      <Modal
        opened={doing !== null}
        onClose={() => setDoing(null)}
        title={doing === null ? '' : wordOf(doing.what)}
      >
        {doing !== null && <Act {...doing} onDone={() => setDoing(null)} />}
      </Modal>
    </>
  );
}

function columnsOf(
  onDo: ((what: AuditContext, user: User) => void) | null,
): readonly Column<User>[] {
  const columns: readonly Column<User>[] = [
    {
      ...{ id: 'email', title: TEXTS.email, width: 220, grows: true },
      cell: (user) => <span title={user.email}>{user.email}</span>,
    },
    { id: 'name', title: TEXTS.name, width: 150, cell: (user) => <bdi>{user.display_name}</bdi> },
    { id: 'role', title: TEXTS.role, width: 110, cell: (user) => user.role },
    {
      ...{ id: 'status', title: TEXTS.status, width: 100 },
      cell: (user) => <Mark tone={user.status === 'active' ? 'good' : 'stale'}>{user.status}</Mark>,
    },
    { id: 'factor', title: TEXTS.factor, width: 110, cell: (user) => user.mfa_state },
    {
      id: 'login',
      title: TEXTS.lastLogin,
      width: 120,
      cell: (user) => <Ago at={user.last_login_at} />,
    },
  ];
  if (onDo === null) return columns;
  const acts: Column<User> = {
    ...{ id: 'acts', title: '', width: 90 },
    cell: (user) => <Acts user={user} onDo={onDo} />,
  };
  return [...columns, acts];
}

function Acts({
  user,
  onDo,
}: {
  readonly user: User;
  readonly onDo: (what: AuditContext, user: User) => void;
}) {
  const offered: readonly AuditContext[] = [
    ...(['link', 'role'] as const),
    user.status === 'active' ? 'disable' : 'enable',
    ...(user.mfa_state === 'off' ? [] : (['factor'] as const)),
    ...(['sessions', 'remove'] as const),
  ];
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <button type="button" className="fs-row-button" aria-label={`${TEXTS.edit} ${user.email}`}>
          {TEXTS.edit}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {offered.map((what) => (
          <Menu.Item key={what} onClick={() => onDo(what, user)}>
            {wordOf(what)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function wordOf(what: AuditContext): string {
  const words: Readonly<Record<AuditContext, string>> = {
    ...{ link: TEXTS.resetLink, role: TEXTS.role, remove: TEXTS.remove, disable: TEXTS.disable },
    ...{ enable: TEXTS.enable, factor: TEXTS.resetFactor, sessions: TEXTS.endSessions },
  };
  return words[what];
}

function NewUser({ onDone }: { readonly onDone: () => void }) {
  const cache = useQueryClient();
  const [role, setRole] = useState<Role>('viewer');
  const { isBusy, failure, submit } = useForm(async ({ email = '', display_name = '' }) => {
    await call('POST /users', { body: { email: email.trim(), display_name, role } });
    await cache.invalidateQueries({ queryKey: ['GET /users'] });
    onDone();
  });
  return (
    <form onSubmit={submit} className="fs-form">
      <TextInput name="email" type="email" label={TEXTS.email} required data-autofocus />
      <TextInput name="display_name" label={TEXTS.name} />
      <RoleSelect role={role} onChange={setRole} />
      <Failure text={failure} />
      <Button type="submit" loading={isBusy}>
        {TEXTS.create}
      </Button>
    </form>
  );
}

function RoleSelect({
  role,
  onChange,
}: {
  readonly role: Role;
  readonly onChange: (role: Role) => void;
}) {
  return (
    <Select
      label={TEXTS.role}
      allowDeselect={false}
      data={[...ROLES]}
      value={role}
      onChange={(next) => onChange(next as Role)}
    />
  );
}

function Act({
  what,
  user,
  onDone,
}: {
  readonly what: AuditContext;
  readonly user: User;
  readonly onDone: () => void;
}) {
  const cache = useQueryClient();
  const [secret, setSecret] = useState<string | null>(null);
  const [role, setRole] = useState<Role>(user.role);
  const [typed, setTyped] = useState('');
  const { isBusy, failure, submit } = useForm(async () => {
    const told = await act(what, user, role);
    await cache.invalidateQueries({ queryKey: ['GET /users'] });
    if (told === null) onDone();
    else setSecret(told);
  });
  if (secret !== null) {
    return (
      <div className="fs-form">
        <p>{TEXTS.resetLinkHint}</p>
        <CodeLine value={secret} label={TEXTS.resetLink} />
        <Button onClick={onDone}>{TEXTS.cancel}</Button>
      </div>
    );
  }
  const isFinal = what === 'remove';
  return (
    <form onSubmit={submit} className="fs-form">
      <p className="fs-break">{isFinal ? TEXTS.removeHint(user.email) : user.email}</p>
      {what === 'role' && <RoleSelect role={role} onChange={setRole} />}
      {what === 'role' && givesMore(user.role, role) && <p role="status">{TEXTS.raiseHint}</p>}
      {isFinal && (
        <TextInput
          aria-label={TEXTS.email}
          value={typed}
          autoComplete="off"
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      )}
      <Failure text={failure} />
      <Button
        type="submit"
        loading={isBusy}
        disabled={isFinal && typed !== user.email}
        color={isFinal || what === 'disable' ? 'red' : 'blue'}
      >
        {wordOf(what)}
      </Button>
    </form>
  );
}

/** Does it; resolves to a secret that has to be shown, or null. */
async function act(what: AuditContext, user: User, role: Role): Promise<string | null> {
  const params = { id: user.user_id };
  const { revision } = user;
  if (what === 'link') return (await call('POST /users/:id/reset-link', { params })).secret;
  if (what === 'role') {
    const changed = await call('PATCH /users/:id', { params, body: { revision, role } });
    // Whoever comes in through a provider needs no password.
    if (!changed.credentials_ended || !user.can_log_in_with_password) return null;
    return call('POST /users/:id/reset-link', { params }).then(
      ({ secret }) => secret,
      () => Promise.reject(new Error(TEXTS.raisedWithoutLink)),
    );
  }
  if (what === 'disable') {
    await call('PATCH /users/:id', { params, body: { revision, status: 'disabled' } });
  }
  if (what === 'enable') {
    await call('PATCH /users/:id', { params, body: { revision, status: 'active' } });
  }
  if (what === 'factor') await call('DELETE /users/:id/mfa', { params });
  if (what === 'sessions') await call('DELETE /users/:id/sessions', { params });
  if (what === 'remove') await call('DELETE /users/:id', { params });
  return null;
}
