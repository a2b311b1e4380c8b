// What can be done with the chosen sensors: tags, groups, revocation. It stands where the filters stood, and tells of
// each sensor for which it failed why.
import { Button, Modal, Select, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { AnswerOf, BodyOf, SensorSummary } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { useMay } from '../session/session.ts';
import { SENSOR_TEXTS as TEXTS } from './texts.ts';

const GROUPS_SHOWN = 500;
const REASON_MAX = 512;
type Results = AnswerOf<'POST /sensors/bulk-change'>;
type Labels = Omit<BodyOf<'POST /sensors/bulk-change'>, 'sensor_ids'>;

export function BulkBar({
  chosen,
  onClear,
}: {
  readonly chosen: readonly SensorSummary[];
  readonly onClear: () => void;
}) {
  const cache = useQueryClient();
  const may = useMay();
  const groups = useApi(
    'GET /groups',
    { query: { limit: GROUPS_SHOWN } },
    { enabled: may('groups:read') },
  );
  const [tag, setTag] = useState('');
  const [groupId, setGroupId] = useState<string | null>(null);
  const [isRevoking, setRevoking] = useState(false);
  const [results, setResults] = useState<Results | null>(null);
  const ids = chosen.map(({ sensor_id }) => sensor_id);
  const keep = (answer: Results) => {
    setResults(answer);
    return cache.invalidateQueries();
  };
  const { isBusy, failure, run } = useForm(async (values) => {
    const labels = JSON.parse(values['labels'] ?? '{}') as Labels;
    await keep(await call('POST /sensors/bulk-change', { body: { sensor_ids: ids, ...labels } }));
  });
  const change = (labels: Labels) => run({ labels: JSON.stringify(labels) });
  return (
    <section aria-label={TEXTS.bulk} className="fs-form">
      <div className="fs-toolbar">
        <strong role="status">{TEXTS.chosen(chosen.length)}</strong>
        <TextInput
          size="xs"
          aria-label={TEXTS.tag}
          placeholder={TEXTS.tag}
          value={tag}
          onChange={({ currentTarget }) => setTag(currentTarget.value)}
        />
        <Button
          variant="default"
          loading={isBusy}
          disabled={tag === ''}
          onClick={() => change({ add_tags: [tag] })}
        >
          {TEXTS.addTag}
        </Button>
        <Button
          variant="default"
          disabled={tag === '' || isBusy}
          onClick={() => change({ remove_tags: [tag] })}
        >
          {TEXTS.removeTag}
        </Button>
        <Select
          size="xs"
          aria-label={TEXTS.group}
          placeholder={TEXTS.group}
          data={(groups.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          value={groupId}
          onChange={setGroupId}
        />
        <Button
          variant="default"
          disabled={groupId === null || isBusy}
          onClick={() => groupId !== null && change({ add_group_ids: [groupId] })}
        >
          {TEXTS.addGroup}
        </Button>
        <Button
          variant="default"
          disabled={groupId === null || isBusy}
          onClick={() => groupId !== null && change({ remove_group_ids: [groupId] })}
        >
          {TEXTS.removeGroup}
        </Button>
        <Button color="red" variant="outline" onClick={() => setRevoking(true)}>
          {TEXTS.revokeChosen}
        </Button>
        <Button variant="subtle" onClick={onClear}>
          {TEXTS.clearChosen}
        </Button>
      </div>
      <Failure text={failure} />
      {results !== null && <Told results={results} chosen={chosen} />}
      <RevokeMany
        {...{ ids, isOpen: isRevoking, onDone: keep }}
        onClose={() => setRevoking(false)}
      />
    </section>
  );
}

function Told({
  results,
  chosen,
}: {
  readonly results: Results;
  readonly chosen: readonly SensorSummary[];
}) {
  const failed = results.items.filter(({ ok }) => !ok);
  const names = new Map(chosen.map(({ sensor_id, node_name }) => [sensor_id, node_name]));
  return (
    <div role="status">
      <p>{TEXTS.bulkDone(results.items.length - failed.length, results.items.length)}</p>
      {failed.map(({ sensor_id, detail }) => (
        <p key={sensor_id} className="fs-meta fs-break">
          <bdi>{names.get(sensor_id) ?? sensor_id}</bdi>: {detail}
        </p>
      ))}
    </div>
  );
}

function RevokeMany({
  ids,
  isOpen,
  onClose,
  onDone,
}: {
  readonly ids: readonly string[];
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onDone: (results: Results) => Promise<void>;
}) {
  const [typed, setTyped] = useState('');
  const words = TEXTS.revokeWords(ids.length);
  const { isBusy, failure, submit } = useForm(async ({ reason = '' }) => {
    await onDone(
      await call('POST /sensors/bulk-revoke', { body: { sensor_ids: [...ids], reason } }),
    );
    onClose();
  });
  return (
    <Modal opened={isOpen} onClose={onClose} title={TEXTS.revokeChosen}>
      <form onSubmit={submit} className="fs-form">
        <p>{TEXTS.revokeManyHint(words)}</p>
        <TextInput
          label={TEXTS.typeWords}
          placeholder={words}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
        <TextInput name="reason" label={TEXTS.reason} maxLength={REASON_MAX} required />
        <Failure text={failure} />
        <Button type="submit" color="red" loading={isBusy} disabled={typed !== words}>
          {TEXTS.revokeChosen}
        </Button>
      </form>
    </Modal>
  );
}
