import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../root-route.tsx';
import { present, textIn } from '../shell/search-params.ts';

const actorsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/actors',
  staticData: {
    nav: { label: 'Actors', icon: 'actors', order: 4, key: 'a', scope: 'system:read' },
  },
  validateSearch: (search: Record<string, unknown>) => present({ kind: textIn(search['kind']) }),
  component: lazyRouteComponent(() => import('./actors-page.tsx'), 'ActorsPage'),
});
const machinesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/actors/machines/$machine',
  component: lazyRouteComponent(() => import('./machines-page.tsx'), 'MachinesPage'),
});

export const actorRoutes = [actorsRoute, machinesRoute] as const;
