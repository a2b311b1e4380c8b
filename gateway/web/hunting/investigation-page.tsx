// One investigation: what it is, what may be done with it now, and everything of it in the order of time.
import { Button } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { addressOf, call, useApi } from '../api/client.ts';
import type { Investigation, TimelineEntry } from '../api/contract.ts';
import { Failure, useForm } from '../design/form.tsx';
import { type Fact, Facts, PageFrame, Panel } from '../design/page.tsx';
import { SeverityMark } from '../design/severity.tsx';
import { Answered } from '../design/states.tsx';
import { At } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { InvestigationActs } from './investigation-acts.tsx';
import { HUNTING_TEXTS as TEXTS } from './texts.ts';

const route = getRouteApi('/shell/investigations/$id');
const SHOWN = 500;

export function InvestigationPage() {
  const { id } = route.useParams();
  const params = { id };
  const one = useApi('GET /investigations/:id', { params });
  const timeline = useApi('GET /investigations/:id/timeline', { params, query: { limit: SHOWN } });
  const may = useMay();
  const refresh = () => {
    void one.refetch();
    void timeline.refetch();
  };
  return (
    <Answered of={one}>
      {(investigation) => (
        <PageFrame title={investigation.name} about={investigation.summary}>
          <div className="fs-toolbar">
            <a href={addressOf('GET /investigations/:id/archive', { params })} download>
              {TEXTS.archive}
            </a>
            <span className="fs-meta">{TEXTS.archiveHint}</span>
          </div>
          <Facts facts={factsOf(investigation)} />
          {may('investigations:write') && (
            <InvestigationActs investigation={investigation} onDone={refresh} />
          )}
          <Panel title={TEXTS.timeline}>
            <Answered of={timeline}>
              {({ items }) =>
                items.length === 0 ? (
                  <p className="fs-quiet">{TEXTS.noTimeline}</p>
                ) : (
                  <ol className="fs-ancestry">
                    {items.map((entry, at) => (
                      <Entry
                        key={entry.item_id ?? `${entry.at}-${at}`}
                        entry={entry}
                        investigationId={id}
                        mayTakeOut={may('investigations:write') && investigation.state !== 'closed'}
                        onDone={refresh}
                      />
                    ))}
                  </ol>
                )
              }
            </Answered>
          </Panel>
        </PageFrame>
      )}
    </Answered>
  );
}

function factsOf(one: Investigation): readonly Fact[] {
  return [
    [TEXTS.severity, <SeverityMark key="severity" severity={one.severity} />],
    [TEXTS.state, TEXTS.investigationStates[one.state] ?? one.state],
    [TEXTS.assignee, one.assignee ?? '–'],
    [TEXTS.outcome, one.outcome ?? '–'],
  ];
}

function Entry({
  entry,
  investigationId,
  mayTakeOut,
  onDone,
}: {
  readonly entry: TimelineEntry;
  readonly investigationId: string;
  readonly mayTakeOut: boolean;
  readonly onDone: () => void;
}) {
  const { item_id: itemId } = entry;
  const { isBusy, failure, run } = useForm(async () => {
    if (itemId === null) return;
    const params = { id: investigationId, item_id: itemId };
    await call('DELETE /investigations/:id/items/:item_id', { params });
    onDone();
  });
  return (
    <li>
      <At at={entry.at} /> <strong>{entry.event?.event_kind ?? entry.what}</strong>{' '}
      <bdi className="fs-break">{toldOf(entry)}</bdi>{' '}
      <span className="fs-meta">
        <bdi>{entry.text}</bdi> {entry.by}
      </span>{' '}
      {mayTakeOut && itemId !== null && (
        <Button size="compact-xs" variant="subtle" loading={isBusy} onClick={() => run()}>
          {TEXTS.takeOut}
        </Button>
      )}
      <Failure text={failure} />
    </li>
  );
}

function toldOf({ event, is_gone: isGone, headline }: TimelineEntry): string {
  if (event !== null) return `${event.node_name}: ${event.message}`;
  return isGone ? TEXTS.gone : (headline ?? '');
}
