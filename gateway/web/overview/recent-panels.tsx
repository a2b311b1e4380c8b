// What happened lately: events that carry weight, and what people did.
import { Link } from '@tanstack/react-router';
import { useApi } from '../api/client.ts';
import { Panel } from '../design/page.tsx';
import { SeverityMark } from '../design/severity.tsx';
import { Answered } from '../design/states.tsx';
import { Ago } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { OVERVIEW_TEXTS as TEXTS } from './texts.ts';

const SHOWN = 8;
const WEIGHTY = ['medium', 'high', 'critical'] as const;

export function RecentPanels() {
  const may = useMay();
  return (
    <div className="fs-halves">
      <EventsPanel />
      {may('audit:read') && <AuditPanel />}
    </div>
  );
}

function EventsPanel() {
  const search = { from: 'now-1h', severity: [...WEIGHTY] };
  const events = useApi(
    'GET /events',
    { query: { ...search, limit: SHOWN } },
    { refetchInterval: 15_000 },
  );
  return (
    <Panel title={TEXTS.recent}>
      <Answered of={events} rows={4}>
        {({ items }) => (
          <>
            {items.length === 0 && <p className="fs-quiet">{TEXTS.noEvents}</p>}
            <ul className="fs-lines">
              {items.map((event) => (
                <li key={`${event.sensor_id}/${event.event_id}`}>
                  <SeverityMark severity={event.severity} />
                  <span className="fs-cut" title={event.message}>
                    <bdi>{event.message}</bdi>
                  </span>
                  <Ago at={event.observed_at} />
                </li>
              ))}
            </ul>
            <Link to="/events" search={search}>
              {TEXTS.all}
            </Link>
          </>
        )}
      </Answered>
    </Panel>
  );
}

function AuditPanel() {
  const audit = useApi('GET /audit', { query: { from: 'now-1h', limit: SHOWN } });
  return (
    <Panel title={TEXTS.changed}>
      <Answered of={audit} rows={4}>
        {({ items }) => (
          <>
            {items.length === 0 && <p className="fs-quiet">{TEXTS.nothingChanged}</p>}
            <ul className="fs-lines">
              {items.map((entry) => (
                <li key={entry.audit_id}>
                  <span>{entry.action}</span>
                  <span className="fs-cut fs-quiet" title={entry.actor}>
                    {entry.actor}
                  </span>
                  <Ago at={entry.at} />
                </li>
              ))}
            </ul>
            <Link to="/audit" search={{ from: 'now-1h' }}>
              {TEXTS.all}
            </Link>
          </>
        )}
      </Answered>
    </Panel>
  );
}
