import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../root-route.tsx';

export const deployRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deploy',
  component: lazyRouteComponent(() => import('./deploy-page.tsx'), 'DeployPage'),
});
