import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../root-route.tsx';
import { present, textIn } from '../shell/search-params.ts';

export const coverageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/coverage',
  staticData: {
    nav: { label: 'Coverage', icon: 'coverage', order: 5, key: 'c', scope: 'sensors:read' },
  },
  validateSearch: (search: Record<string, unknown>) => present({ from: textIn(search['from']) }),
  component: lazyRouteComponent(() => import('./coverage-page.tsx'), 'CoveragePage'),
});
