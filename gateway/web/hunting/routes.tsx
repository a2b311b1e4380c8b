import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../root-route.tsx';

export const huntingRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/searches',
    staticData: {
      nav: { label: 'Searches', icon: 'search', order: 4, key: 'q', scope: 'searches:read' },
    },
    component: lazyRouteComponent(() => import('./searches-page.tsx'), 'SearchesPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/investigations',
    staticData: {
      nav: {
        ...{ label: 'Investigations', icon: 'audit', order: 4, key: 'i' },
        scope: 'investigations:read',
      },
    },
    component: lazyRouteComponent(() => import('./investigations-page.tsx'), 'InvestigationsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/investigations/$id',
    component: lazyRouteComponent(() => import('./investigation-page.tsx'), 'InvestigationPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/exercises',
    staticData: {
      nav: { label: 'Exercises', icon: 'play', order: 6, key: 'x', scope: 'exercises:read' },
    },
    component: lazyRouteComponent(() => import('./exercises-page.tsx'), 'ExercisesPage'),
  }),
] as const;
