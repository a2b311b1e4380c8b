import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { shellRoute } from '../root-route.tsx';
import { present, textIn } from '../shell/search-params.ts';

const policiesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/policies',
  staticData: {
    nav: { label: 'Policies', icon: 'policies', order: 6, key: 'p', scope: 'policies:read' },
  },
  component: lazyRouteComponent(() => import('./policies-page.tsx'), 'PoliciesPage'),
});
const start = createRoute({
  getParentRoute: () => policiesRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/policies/packs' });
  },
});
const packs = createRoute({
  getParentRoute: () => policiesRoute,
  path: '/packs',
  component: lazyRouteComponent(() => import('./packs-tab.tsx'), 'PacksTab'),
});
const pack = createRoute({
  getParentRoute: () => policiesRoute,
  path: '/packs/$id',
  validateSearch: (search: Record<string, unknown>) =>
    present({ from: textIn(search['from']), to: textIn(search['to']) }),
  component: lazyRouteComponent(() => import('./pack-part.tsx'), 'PackPart'),
});
const draft = createRoute({
  getParentRoute: () => policiesRoute,
  path: '/packs/$id/draft',
  component: lazyRouteComponent(() => import('./draft-part.tsx'), 'DraftPart'),
});
const library = createRoute({
  getParentRoute: () => policiesRoute,
  path: '/library',
  component: lazyRouteComponent(() => import('./library-tab.tsx'), 'LibraryTab'),
});
const assignments = createRoute({
  getParentRoute: () => policiesRoute,
  path: '/assignments',
  component: lazyRouteComponent(() => import('./assignments-tab.tsx'), 'AssignmentsTab'),
});
const rehearsal = createRoute({
  getParentRoute: () => policiesRoute,
  path: '/assignments/$kind/$target',
  validateSearch: (search: Record<string, unknown>) => present({ from: textIn(search['from']) }),
  component: lazyRouteComponent(() => import('./rehearsal-part.tsx'), 'RehearsalPart'),
});
const rollouts = createRoute({
  getParentRoute: () => policiesRoute,
  path: '/rollouts',
  component: lazyRouteComponent(() => import('./rollouts-tab.tsx'), 'RolloutsTab'),
});
const rollout = createRoute({
  getParentRoute: () => policiesRoute,
  path: '/rollouts/$id',
  component: lazyRouteComponent(() => import('./rollout-part.tsx'), 'RolloutPart'),
});
const drift = createRoute({
  getParentRoute: () => policiesRoute,
  path: '/drift',
  component: lazyRouteComponent(() => import('./drift-tab.tsx'), 'DriftTab'),
});
const keys = createRoute({
  getParentRoute: () => policiesRoute,
  path: '/keys',
  component: lazyRouteComponent(() => import('./keys-tab.tsx'), 'KeysTab'),
});

export const policyRoutes = [
  policiesRoute.addChildren([
    ...([start, packs, pack, draft, library, assignments] as const),
    ...([rehearsal, rollouts, rollout, drift, keys] as const),
  ]),
] as const;
