// Saved searches: each with how it stands, a way to its events, and what may be done with it.
import { Button, Modal, Select, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { AlertSeverity } from '../../../machines/console/delivery/alert.ts';
import { ALERT_SEVERITIES } from '../../../machines/wire/words.ts';
import { call, useApi } from '../api/client.ts';
import type { SavedSearch } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { exact } from '../design/numbers.ts';
import { PageFrame } from '../design/page.tsx';
import { Mark, type Tone } from '../design/shape.tsx';
import { Answered, Nothing } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { HUNTING_TEXTS as TEXTS } from './texts.ts';

const REFRESH_MS = 10_000;
const TONES: Readonly<Record<string, Tone>> = { above: 'bad', halted: 'warn', paused: 'stale' };

export function SearchesPage() {
  const searches = useApi('GET /saved-searches', {}, { refetchInterval: REFRESH_MS });
  const [isSaving, setSaving] = useState(false);
  const mayWrite = useMay()('searches:write');
  const refresh = () => void searches.refetch();
  const save = mayWrite && <Button onClick={() => setSaving(true)}>{TEXTS.saveSearch}</Button>;
  return (
    <PageFrame title={TEXTS.searches} about={TEXTS.searchesAbout} action={save}>
      <Answered of={searches}>
        {({ items }) =>
          items.length === 0 ? (
            <Nothing title={TEXTS.noSearches} action={save}>
              {TEXTS.searchHint}
            </Nothing>
          ) : (
            <DataTable
              label={TEXTS.searches}
              columns={columnsOf(mayWrite, refresh)}
              rows={items}
              rowKey={(row) => row.search_id}
            />
          )
        }
      </Answered>
      <Modal opened={isSaving} onClose={() => setSaving(false)} title={TEXTS.saveSearch}>
        <SaveSearch
          onDone={() => {
            setSaving(false);
            refresh();
          }}
        />
      </Modal>
    </PageFrame>
  );
}

/** The form; a filter that is given is saved with its condition. */
function SaveSearch({ onDone }: { readonly onDone: () => void }) {
  const [severity, setSeverity] = useState<AlertSeverity>('medium');
  const { isBusy, failure, submit } = useForm(async (values) => {
    const { name = '', q = '', threshold = '', window_secs = '' } = values;
    await call('POST /saved-searches', {
      body: {
        ...{ search_name: name, filter: q === '' ? {} : { q } },
        ...(threshold === ''
          ? {}
          : { threshold: Number(threshold), window_secs: Number(window_secs), severity }),
      },
    });
    onDone();
  });
  return (
    <form onSubmit={submit} className="fs-form">
      <TextInput name="name" label={TEXTS.name} required maxLength={128} />
      <TextInput
        name="q"
        label={TEXTS.condition}
        placeholder={TEXTS.conditionHint}
        maxLength={2_048}
        spellCheck={false}
      />
      <TextInput
        name="threshold"
        label={TEXTS.threshold}
        description={TEXTS.thresholdHint}
        inputMode="numeric"
        pattern="\d*"
      />
      <TextInput
        name="window_secs"
        label={TEXTS.window}
        defaultValue="300"
        inputMode="numeric"
        pattern="\d+"
      />
      <Select
        label={TEXTS.severity}
        allowDeselect={false}
        data={[...ALERT_SEVERITIES]}
        value={severity}
        onChange={(next) => setSeverity(next as AlertSeverity)}
      />
      <Failure text={failure} />
      <Button type="submit" loading={isBusy}>
        {TEXTS.save}
      </Button>
    </form>
  );
}

function columnsOf(mayWrite: boolean, refresh: () => void): readonly Column<SavedSearch>[] {
  const columns: readonly Column<SavedSearch>[] = [
    {
      ...{ id: 'name', title: TEXTS.name, width: 200, grows: true },
      cell: (row) => (
        <Link to="/events" search={{ ...row.filter, from: 'now-24h' }} title={TEXTS.open}>
          <bdi>{row.search_name}</bdi>
        </Link>
      ),
    },
    {
      ...{ id: 'state', title: TEXTS.state, width: 120 },
      cell: ({ state, trouble }) => (
        <span title={trouble ?? undefined}>
          <Mark tone={TONES[state] ?? 'good'}>{TEXTS.states[state] ?? state}</Mark>
        </span>
      ),
    },
    {
      ...{ id: 'matches', title: TEXTS.matches, width: 140, isNumber: true },
      cell: ({ match_count, threshold }) =>
        threshold === null ? '–' : `${exact(match_count)} / ${exact(threshold)}`,
    },
    {
      ...{ id: 'window', title: TEXTS.window, width: 150, isNumber: true },
      cell: ({ window_secs }) => (window_secs === null ? '–' : exact(window_secs)),
    },
    {
      ...{ id: 'crossed', title: TEXTS.crossed, width: 130 },
      cell: (row) => <Ago at={row.last_crossed_at} />,
    },
  ];
  if (!mayWrite) return columns;
  const acts: Column<SavedSearch> = {
    ...{ id: 'acts', title: '', width: 190 },
    cell: (row) => <Acts search={row} refresh={refresh} />,
  };
  return [...columns, acts];
}

function Acts({ search, refresh }: { readonly search: SavedSearch; readonly refresh: () => void }) {
  const isStill = search.state === 'paused' || search.state === 'halted';
  const params = { id: search.search_id };
  const turn = useForm(async () => {
    await (isStill
      ? call('POST /saved-searches/:id/resume', { params })
      : call('POST /saved-searches/:id/pause', { params }));
    refresh();
  });
  const gone = useForm(async () => {
    await call('DELETE /saved-searches/:id', { params });
    refresh();
  });
  return (
    <span className="fs-toolbar">
      {search.threshold !== null && (
        <Button
          size="compact-xs"
          variant="default"
          loading={turn.isBusy}
          onClick={() => turn.run()}
        >
          {isStill ? TEXTS.resume : TEXTS.pause}
        </Button>
      )}
      <Button size="compact-xs" variant="default" loading={gone.isBusy} onClick={() => gone.run()}>
        {TEXTS.remove}
      </Button>
      <Failure text={turn.failure ?? gone.failure} />
    </span>
  );
}
