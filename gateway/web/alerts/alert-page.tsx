// One alert: what it tells, what was done with it, and the events that it counted.
import { Button, Select, Textarea } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ALERT_RESOLUTIONS } from '../../../machines/console/detection/alert.machine.ts';
import { call, useApi } from '../api/client.ts';
import type { Alert, AlertWithNotes } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { type Fact, Facts, PageFrame, Panel } from '../design/page.tsx';
import { SeverityMark } from '../design/severity.tsx';
import { Mark } from '../design/shape.tsx';
import { Answered } from '../design/states.tsx';
import { Ago, At } from '../design/time.tsx';
import { useMay, useSession } from '../session/session.ts';
import { STATE_TONES } from './alerts-page.tsx';
import { ALERT_TEXTS as TEXTS } from './texts.ts';

const EVENTS_SHOWN = 50;
/** Stands for the sensor of what is of no single one. */
const FLEET = 'fleet';
const route = getRouteApi('/shell/alerts/$alertId');

export function AlertPage() {
  const { alertId } = route.useParams();
  const one = useApi('GET /alerts/:id', { params: { id: alertId } });
  const mayWrite = useMay()('alerts:write');
  const refresh = () => void one.refetch();
  return (
    <Answered of={one}>
      {({ alert, notes }) => (
        <PageFrame title={alert.headline} about={<Link to="/alerts">{TEXTS.title}</Link>}>
          <Panel>
            <p className="fs-cut-lines">{alert.detail}</p>
            <Facts facts={factsOf(alert)} />
            {mayWrite && <Acts alert={alert} onChange={refresh} />}
          </Panel>
          <RelatedEvents alert={alert} />
          <History notes={notes} />
          {mayWrite && <Comment key={notes.length} alertId={alert.alert_id} onChange={refresh} />}
        </PageFrame>
      )}
    </Answered>
  );
}

function factsOf(alert: Alert): readonly Fact[] {
  const linkTo = (id: string | null) =>
    id === null ? null : (
      <Link key={id} to="/alerts/$alertId" params={{ alertId: id }}>
        {id}
      </Link>
    );
  const optional: readonly (readonly [string, Fact[1] | null])[] = [
    [TEXTS.assignee, alert.assignee],
    [TEXTS.resolution, alert.resolution],
    [TEXTS.reopens, linkTo(alert.reopens)],
    [TEXTS.reopenedAs, linkTo(alert.reopened_as)],
  ];
  return [
    [TEXTS.severity, <SeverityMark key="severity" severity={alert.severity} />],
    [
      TEXTS.state,
      <Mark key="state" tone={STATE_TONES[alert.state]}>
        {alert.state}
      </Mark>,
    ],
    [TEXTS.count, alert.match_count],
    [TEXTS.first, <At key="first" at={alert.first_matched_at} />],
    [TEXTS.last, <Ago key="last" at={alert.last_matched_at} />],
    [
      TEXTS.sensor,
      alert.sensor_id === FLEET ? (
        alert.node_name
      ) : (
        <Link key="sensor" to="/sensors/$id/overview" params={{ id: alert.sensor_id }}>
          <bdi>{alert.node_name}</bdi>
        </Link>
      ),
    ],
    [TEXTS.kind, alert.alert_kind],
    ...optional.filter(([, value]) => value !== null),
    ...Object.entries(alert.group).map(([name, value]): Fact => [name, value]),
    ...Object.entries(alert.facts)
      .filter(([name]) => name !== 'message')
      .map(([name, value]): Fact => [name, value]),
  ];
}

function Acts({ alert, onChange }: { readonly alert: Alert; readonly onChange: () => void }) {
  const params = { id: alert.alert_id };
  const { user } = useSession();
  const isLive = alert.state === 'open' || alert.state === 'acknowledged';
  const form = useForm(async ({ act, resolution }) => {
    if (act === 'acknowledge') await call('POST /alerts/:id/acknowledge', { params });
    if (act === 'reopen') await call('POST /alerts/:id/reopen', { params });
    if (act === 'mine')
      await call('POST /alerts/:id/assign', { params, body: { assignee: user.email } });
    if (act === 'nobody')
      await call('POST /alerts/:id/assign', { params, body: { assignee: null } });
    const why = ALERT_RESOLUTIONS.find((word) => word === resolution);
    if (why !== undefined)
      await call('POST /alerts/:id/resolve', { params, body: { resolution: why } });
    onChange();
  });
  const button = (act: string, label: string) => (
    <Button variant="default" loading={form.isBusy} onClick={() => form.run({ act })}>
      {label}
    </Button>
  );
  return (
    <>
      <Failure text={form.failure} />
      <div className="fs-form-foot">
        {alert.state === 'open' && button('acknowledge', TEXTS.acknowledge)}
        {isLive && button('mine', TEXTS.mine)}
        {isLive && alert.assignee !== null && button('nobody', TEXTS.nobody)}
        {isLive && (
          <Select
            aria-label={TEXTS.resolve}
            placeholder={TEXTS.resolve}
            data={[...ALERT_RESOLUTIONS]}
            value={null}
            onChange={(resolution) => {
              if (resolution !== null) form.run({ resolution });
            }}
          />
        )}
        {alert.state === 'resolved' && button('reopen', TEXTS.reopen)}
      </div>
    </>
  );
}

function RelatedEvents({ alert }: { readonly alert: Alert }) {
  const events = useApi('GET /alerts/:id/events', {
    params: { id: alert.alert_id },
    query: { limit: EVENTS_SHOWN },
  });
  if (alert.event_ids.length === 0) return null;
  return (
    <Panel title={TEXTS.events}>
      <Answered of={events} rows={3}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="fs-quiet">{TEXTS.noEvents}</p>
          ) : (
            <ul className="fs-lines">
              {items.map((event) => (
                <li key={event.event_id}>
                  <At at={event.observed_at} />{' '}
                  <Link
                    to="/events"
                    search={{ q: `event_id:${event.event_id}`, from: alert.first_matched_at }}
                  >
                    {event.message}
                  </Link>{' '}
                  <span className="fs-meta">{event.process?.binary ?? event.event_kind}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </Panel>
  );
}

function History({ notes }: Pick<AlertWithNotes, 'notes'>) {
  return (
    <Panel title={TEXTS.history}>
      <ol className="fs-lines">
        {notes.map((note) => (
          <li key={note.sequence}>
            <At at={note.at} />
            <span className="fs-break">
              <strong>{note.actor}</strong> {note.what} <bdi>{note.text}</bdi>
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function Comment({
  alertId,
  onChange,
}: {
  readonly alertId: string;
  readonly onChange: () => void;
}) {
  const form = useForm(async ({ text = '' }) => {
    if (text.trim() === '') return;
    await call('POST /alerts/:id/comments', { params: { id: alertId }, body: { text } });
    onChange();
  });
  return (
    <Panel title={TEXTS.comment}>
      <form className="fs-form" onSubmit={form.submit}>
        <Textarea name="text" aria-label={TEXTS.comment} autosize minRows={2} />
        <Failure text={form.failure} />
        <div className="fs-toolbar">
          <Button type="submit" loading={form.isBusy}>
            {TEXTS.send}
          </Button>
        </div>
      </form>
    </Panel>
  );
}
