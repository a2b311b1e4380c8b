import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../root-route.tsx';

const helpRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/help',
  staticData: { nav: { label: 'Help', icon: 'help', order: 120, key: 'h' } },
  component: lazyRouteComponent(() => import('./help-page.tsx'), 'HelpPage'),
});
const apiRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/docs',
  staticData: { nav: { label: 'API', icon: 'api', order: 110, key: 'i' } },
  component: lazyRouteComponent(() => import('./api-page.tsx'), 'ApiPage'),
});

export const helpRoutes = [helpRoute, apiRoute] as const;
