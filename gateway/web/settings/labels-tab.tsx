// Teams and groups: one page for both, as they are one set of routes.
import { Button, Drawer, Modal, MultiSelect, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { LabelDetail, LabelView } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { exact } from '../design/numbers.ts';
import { Answered, Nothing } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { SETTINGS_TEXTS as TEXTS } from './texts.ts';

const SHOWN = 500;
type Kind = 'teams' | 'groups';

export function TeamsTab() {
  return <Labels kind="teams" />;
}

export function GroupsTab() {
  return <Labels kind="groups" />;
}

function Labels({ kind }: { readonly kind: Kind }) {
  const labels = useApi(`GET /${kind}`, { query: { limit: SHOWN } });
  const may = useMay();
  const [isAdding, setAdding] = useState(false);
  const [open, setOpen] = useState<LabelView | null>(null);
  const add = may(`${kind}:write`) && (
    <Button onClick={() => setAdding(true)}>{TEXTS.newLabel[kind]}</Button>
  );
  return (
    <>
      <Answered of={labels}>
        {({ items }) =>
          items.length === 0 ? (
            <Nothing title={TEXTS.none[kind]} action={add}>
              {TEXTS.hints[kind]}
            </Nothing>
          ) : (
            <>
              <div className="fs-toolbar">
                {add}
                <span className="fs-quiet">{TEXTS.hints[kind]}</span>
              </div>
              <DataTable
                label={TEXTS[kind]}
                columns={columnsOf(kind, setOpen)}
                rows={items}
                rowKey={(label) => label.id}
              />
            </>
          )
        }
      </Answered>
      <Modal opened={isAdding} onClose={() => setAdding(false)} title={TEXTS.newLabel[kind]}>
        <NewLabel kind={kind} onDone={() => setAdding(false)} />
      </Modal>
      <Drawer opened={open !== null} onClose={() => setOpen(null)} title={open?.name ?? ''}>
        {open !== null && <Members kind={kind} id={open.id} onDone={() => setOpen(null)} />}
      </Drawer>
    </>
  );
}

function columnsOf(kind: Kind, onOpen: (label: LabelView) => void): readonly Column<LabelView>[] {
  const people: Column<LabelView> = {
    ...{ id: 'people', title: TEXTS.people, width: 80, isNumber: true },
    cell: (label) => exact(label.users ?? 0),
  };
  return [
    {
      ...{ id: 'name', title: TEXTS.name, width: 200, grows: true },
      cell: (label) => (
        <button type="button" className="fs-row-button" onClick={() => onOpen(label)}>
          <bdi>{label.name}</bdi>
        </button>
      ),
    },
    {
      ...{ id: 'description', title: TEXTS.description, width: 240, grows: true },
      cell: (label) => <bdi>{label.description}</bdi>,
    },
    ...(kind === 'teams' ? [people] : []),
    {
      ...{ id: 'sensors', title: TEXTS.sensors, width: 80, isNumber: true },
      cell: (label) => exact(label.sensors),
    },
    {
      id: 'created',
      title: TEXTS.created,
      width: 120,
      cell: (label) => <Ago at={label.created_at} />,
    },
  ];
}

function NewLabel({ kind, onDone }: { readonly kind: Kind; readonly onDone: () => void }) {
  const cache = useQueryClient();
  const { isBusy, failure, submit } = useForm(async ({ name = '', description = '' }) => {
    await call(`POST /${kind}`, { body: { name, description } });
    await cache.invalidateQueries({ queryKey: [`GET /${kind}`] });
    onDone();
  });
  return (
    <form onSubmit={submit} className="fs-form">
      <TextInput name="name" label={TEXTS.name} required data-autofocus />
      <TextInput name="description" label={TEXTS.description} />
      <Failure text={failure} />
      <Button type="submit" loading={isBusy}>
        {TEXTS.create}
      </Button>
    </form>
  );
}

function Members({
  kind,
  id,
  onDone,
}: {
  readonly kind: Kind;
  readonly id: string;
  readonly onDone: () => void;
}) {
  const detail = useApi(`GET /${kind}/:id`, { params: { id } });
  return (
    <Answered of={detail}>
      {(data) => <MembersForm key={id} kind={kind} detail={data} onDone={onDone} />}
    </Answered>
  );
}

function MembersForm({
  kind,
  detail,
  onDone,
}: {
  readonly kind: Kind;
  readonly detail: LabelDetail;
  readonly onDone: () => void;
}) {
  const may = useMay();
  const cache = useQueryClient();
  const sensors = useApi('GET /sensors', { query: { limit: SHOWN } });
  const users = useApi(
    'GET /users',
    { query: { limit: SHOWN } },
    { enabled: kind === 'teams' && may('users:read') },
  );
  const [sensorIds, setSensorIds] = useState<string[]>([...detail.sensor_ids]);
  const [userIds, setUserIds] = useState<string[]>([...(detail.user_ids ?? [])]);
  const params = { id: detail.id };
  const refresh = () => cache.invalidateQueries();
  const save = useForm(async () => {
    const body = {
      add_sensors: without(sensorIds, detail.sensor_ids),
      remove_sensors: without(detail.sensor_ids, sensorIds),
    };
    if (kind === 'groups') await call('POST /groups/:id/members', { params, body });
    else {
      const people = {
        add_users: without(userIds, detail.user_ids ?? []),
        remove_users: without(detail.user_ids ?? [], userIds),
      };
      await call('POST /teams/:id/members', { params, body: { ...body, ...people } });
    }
    await refresh();
    onDone();
  });
  const remove = useForm(async () => {
    await call(`DELETE /${kind}/:id`, { params });
    await refresh();
    onDone();
  });
  const mayWrite = may(`${kind}:write`);
  return (
    <form onSubmit={save.submit} className="fs-form">
      <MultiSelect
        label={TEXTS.sensors}
        searchable
        disabled={!mayWrite}
        data={optionsOf(sensors.data?.items ?? [], sensorIds, (one) => [
          one.sensor_id,
          one.node_name,
        ])}
        value={sensorIds}
        onChange={setSensorIds}
      />
      {kind === 'teams' && may('users:read') && (
        <MultiSelect
          label={TEXTS.people}
          searchable
          disabled={!mayWrite}
          data={optionsOf(users.data?.items ?? [], userIds, (one) => [one.user_id, one.email])}
          value={userIds}
          onChange={setUserIds}
        />
      )}
      <Failure text={save.failure ?? remove.failure} />
      {mayWrite && (
        <div className="fs-toolbar">
          <Button type="submit" loading={save.isBusy}>
            {TEXTS.save}
          </Button>
          <Button
            color="red"
            variant="outline"
            loading={remove.isBusy}
            onClick={() => remove.run()}
          >
            {TEXTS.remove}
          </Button>
        </div>
      )}
    </form>
  );
}

function optionsOf<T>(
  items: readonly T[],
  chosen: readonly string[],
  read: (one: T) => readonly [id: string, name: string],
) {
  const known = new Map(items.map(read));
  for (const id of chosen) if (!known.has(id)) known.set(id, id);
  return [...known].map(([value, label]) => ({ value, label }));
}

function without(all: readonly string[], gone: readonly string[]): string[] {
  return all.filter((one) => !gone.includes(one));
}
