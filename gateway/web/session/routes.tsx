import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute, shellRoute } from '../root-route.tsx';
import { present, textIn } from '../shell/search-params.ts';

export const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login',
  validateSearch: (search: Record<string, unknown>) =>
    present({ return_to: textIn(search['return_to']) }),
  component: lazyRouteComponent(() => import('./login-page.tsx'), 'LoginPage'),
});

export const resetRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login/reset',
  component: lazyRouteComponent(() => import('./reset-page.tsx'), 'ResetPage'),
});

export const accountRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/account',
  component: lazyRouteComponent(() => import('./account-page.tsx'), 'AccountPage'),
});
