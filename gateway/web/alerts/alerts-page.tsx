// The inbox: newest first, worked off by keys, its filters in the address.
import { MultiSelect, TextInput } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ALERT_STATES } from '../../../machines/console/detection/alert-states.ts';
import { ALERT_SEVERITIES } from '../../../machines/wire/words.ts';
import { call, useApi } from '../api/client.ts';
import type { Alert } from '../api/contract.ts';
import { sentenceOf } from '../api/problem.ts';
import { Failure } from '../design/form.tsx';
import { Inbox, type InboxAct } from '../design/inbox.tsx';
import { PageFrame } from '../design/page.tsx';
import { SeverityMark } from '../design/severity.tsx';
import { Mark, type Tone } from '../design/shape.tsx';
import { Answered, NoMatch, Nothing } from '../design/states.tsx';
import { Ago } from '../design/time.tsx';
import { useMay, useSession } from '../session/session.ts';
import type { AlertSearch } from './alert-search.ts';
import { ALERT_TEXTS as TEXTS } from './texts.ts';

const SHOWN = 100;
const REFRESH_MS = 5_000;
const LIVE = ['open', 'acknowledged'] as const;
export const STATE_TONES: Readonly<Record<Alert['state'], Tone>> = {
  ...{ open: 'bad', acknowledged: 'soon', resolved: 'good', reopened: 'stale' },
};
type AlertAct =
  | { readonly act: 'acknowledge' }
  | { readonly act: 'resolve'; readonly resolution: 'fixed' }
  | { readonly act: 'assign'; readonly assignee: string };
const route = getRouteApi('/shell/alerts');

export function AlertsPage() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const query = { ...search, limit: SHOWN, state: search.state ?? [...LIVE] };
  const alerts = useApi('GET /alerts', { query }, { refetchInterval: REFRESH_MS });
  const { acts, failure } = useActs(() => void alerts.refetch());
  const change = (next: AlertSearch) => void navigate({ to: '/alerts', search: next });
  const isFiltered = Object.keys(search).length > 0;
  return (
    <PageFrame title={TEXTS.title} about={TEXTS.about}>
      <Failure text={failure} />
      <Answered of={alerts}>
        {({ items }) => (
          <>
            <Inbox
              label={TEXTS.title}
              items={items}
              keyOf={(one) => one.alert_id}
              nameOf={(one) => one.headline}
              row={(one) => <AlertLine alert={one} />}
              acts={acts}
              onOpen={(one) =>
                void navigate({ to: '/alerts/$alertId', params: { alertId: one.alert_id } })
              }
              toolbar={<Filters search={search} onChange={change} />}
            />
            {items.length === 0 &&
              (isFiltered ? (
                <NoMatch title={TEXTS.noMatch} onClear={() => change({})}>
                  {TEXTS.hint}
                </NoMatch>
              ) : (
                <Nothing title={TEXTS.none}>{TEXTS.hint}</Nothing>
              ))}
            {items.length > 0 && <p className="fs-meta fs-wide-only">{TEXTS.keys}</p>}
          </>
        )}
      </Answered>
    </PageFrame>
  );
}

function AlertLine({ alert }: { readonly alert: Alert }) {
  return (
    <span className="fs-inbox-line">
      <SeverityMark severity={alert.severity} />
      <strong className="fs-break">
        <bdi>{alert.headline}</bdi>
      </strong>
      <span className="fs-meta">
        <Mark tone={STATE_TONES[alert.state]}>{alert.state}</Mark> · {TEXTS.count}{' '}
        {alert.match_count} · <Ago at={alert.last_matched_at} />
        {alert.assignee === null ? '' : ` · ${alert.assignee}`}
      </span>
    </span>
  );
}

function useActs(onDone: () => void): {
  readonly acts: readonly InboxAct<Alert>[];
  readonly failure: string | null;
} {
  const may = useMay();
  const { user } = useSession();
  const [refused, setRefused] = useState(0);
  const [failure, setFailure] = useState<string | null>(null);
  if (!may('alerts:write')) return { acts: [], failure: null };
  const send = (act: AlertAct) => (items: readonly Alert[]) => {
    const ids = items.map((one) => one.alert_id);
    setFailure(null);
    call('POST /alerts/bulk', { body: { ...act, alert_ids: ids } })
      .then(({ results }) => {
        setRefused(results.filter(({ result }) => result !== 'ok').length);
        onDone();
      })
      .catch((error: unknown) => setFailure(sentenceOf(error)));
  };
  return {
    acts: [
      { label: TEXTS.acknowledge, key: 'e', run: send({ act: 'acknowledge' }) },
      { label: TEXTS.resolve, key: 'r', run: send({ act: 'resolve', resolution: 'fixed' }) },
      { label: TEXTS.mine, key: 'm', run: send({ act: 'assign', assignee: user.email }) },
    ],
    failure: failure ?? (refused > 0 ? TEXTS.refused(refused) : null),
  };
}

function Filters({
  search,
  onChange,
}: {
  readonly search: AlertSearch;
  readonly onChange: (next: AlertSearch) => void;
}) {
  return (
    <>
      <MultiSelect
        aria-label={TEXTS.state}
        placeholder={search.state === undefined ? TEXTS.live : TEXTS.state}
        data={[...ALERT_STATES]}
        value={search.state ?? []}
        onChange={(state) => onChange(without({ ...search, state: state as never }, 'state'))}
      />
      <MultiSelect
        aria-label={TEXTS.severity}
        placeholder={TEXTS.severity}
        data={[...ALERT_SEVERITIES]}
        value={search.severity ?? []}
        onChange={(severity) =>
          onChange(without({ ...search, severity: severity as never }, 'severity'))
        }
      />
      <TextInput
        aria-label={TEXTS.search}
        placeholder={TEXTS.search}
        defaultValue={search.text ?? ''}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          const text = event.currentTarget.value.trim();
          const { text: _text, ...others } = search;
          onChange(text === '' ? others : { ...others, text });
        }}
      />
    </>
  );
}

// An empty choice is none.
function without(search: AlertSearch, name: 'state' | 'severity'): AlertSearch {
  if ((search[name]?.length ?? 0) > 0) return search;
  const { [name]: _gone, ...others } = search;
  return others;
}
