import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../root-route.tsx';

export const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  staticData: { nav: { label: 'Overview', icon: 'overview', order: 1, key: 'o' } },
  component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
});
