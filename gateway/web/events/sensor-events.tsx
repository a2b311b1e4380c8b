import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { EventList } from './event-list.tsx';

const route = getRouteApi('/shell/sensors/$id/events');

export function SensorEvents() {
  const { id } = route.useParams();
  const search = route.useSearch();
  const navigate = useNavigate();
  return (
    <EventList
      search={search}
      sensorId={id}
      onChange={(next) =>
        void navigate({ to: '/sensors/$id/events', params: { id }, search: next })
      }
    />
  );
}
