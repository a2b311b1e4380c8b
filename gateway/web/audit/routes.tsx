import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../root-route.tsx';
import { present, textIn } from '../shell/search-params.ts';

export const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  staticData: {
    nav: { label: 'Audit', icon: 'audit', order: 6, key: 'u', scope: 'audit:read' },
  },
  validateSearch: (search: Record<string, unknown>) =>
    present({
      from: textIn(search['from']),
      actor: textIn(search['actor']),
      action: textIn(search['action']),
      target: textIn(search['target']),
      result: textIn(search['result']),
    }),
  component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
});
