import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { PageFrame } from '../design/page.tsx';
import { EventList } from './event-list.tsx';
import { EVENT_TEXTS } from './texts.ts';

const route = getRouteApi('/shell/events');

export function EventsPage() {
  const search = route.useSearch();
  const navigate = useNavigate();
  return (
    <PageFrame title={EVENT_TEXTS.title}>
      <EventList
        search={search}
        onChange={(next) => void navigate({ to: '/events', search: next })}
      />
    </PageFrame>
  );
}
