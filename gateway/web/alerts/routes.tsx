import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../root-route.tsx';
import { alertSearchOf } from './alert-search.ts';

const alertsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/alerts',
  staticData: {
    nav: { label: 'Alerts', icon: 'alerts', order: 2.5, key: 'l', scope: 'alerts:read' },
  },
  validateSearch: alertSearchOf,
  component: lazyRouteComponent(() => import('./alerts-page.tsx'), 'AlertsPage'),
});
const alertRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/alerts/$alertId',
  component: lazyRouteComponent(() => import('./alert-page.tsx'), 'AlertPage'),
});
const rulesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/alert-rules',
  staticData: {
    nav: { label: 'Alert rules', icon: 'rules', order: 3.5, key: 'r', scope: 'alert-rules:read' },
  },
  component: lazyRouteComponent(() => import('./rules-page.tsx'), 'RulesPage'),
});
const ruleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/alert-rules/$ruleId',
  component: lazyRouteComponent(() => import('./rule-page.tsx'), 'RulePage'),
});

export const alertRoutes = [alertsRoute, alertRoute, rulesRoute, ruleRoute] as const;
