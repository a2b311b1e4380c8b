import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../root-route.tsx';
import { eventSearchOf } from './event-search.ts';

export const eventsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/events',
  staticData: {
    nav: { label: 'Events', icon: 'events', order: 3, key: 'e', scope: 'events:read' },
  },
  validateSearch: eventSearchOf,
  component: lazyRouteComponent(() => import('./events-page.tsx'), 'EventsPage'),
});
