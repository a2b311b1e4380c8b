// Every capability of the page, one line each, and the router over them.
import { QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { actorRoutes } from './actors/routes.tsx';
import { alertRoutes } from './alerts/routes.tsx';
import { whenSessionIsLost } from './api/client.ts';
import { setPaused } from './api/live.ts';
import { ApiProblem } from './api/problem.ts';
import { auditRoute } from './audit/routes.tsx';
import { coverageRoute } from './coverage/routes.tsx';
import { deployRoute } from './deploy/routes.tsx';
import { eventsRoute } from './events/routes.tsx';
import { helpRoutes } from './help/routes.tsx';
import { huntingRoutes } from './hunting/routes.tsx';
import { overviewRoute } from './overview/routes.tsx';
import { policyRoutes } from './policy/routes.tsx';
import { rootRoute, shellRoute } from './root-route.tsx';
import { sensorRoutes } from './sensors/routes.tsx';
import { accountRoute, loginRoute, resetRoute } from './session/routes.tsx';
import { settingsRoutes } from './settings/routes.tsx';
import { setupRoute } from './setup/routes.tsx';
import { parseSearch, stringifySearch } from './shell/search-params.ts';

const RETRIES_MAX = 2;
const STALE_MS = 5_000;
/** Paths that nobody needs a session for. */
const OUTSIDE: readonly string[] = ['/login', '/login/reset', '/setup'];

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      // A refusal does not get better by asking again; a Console that is away may.
      retry: (count, error) =>
        count < RETRIES_MAX &&
        !(error instanceof ApiProblem && error.status !== 0 && error.status < 500),
    },
  },
});

const tree = rootRoute.addChildren([
  loginRoute,
  resetRoute,
  setupRoute,
  shellRoute.addChildren([
    overviewRoute,
    ...sensorRoutes,
    ...alertRoutes,
    eventsRoute,
    ...huntingRoutes,
    ...actorRoutes,
    coverageRoute,
    ...policyRoutes,
    auditRoute,
    ...settingsRoutes,
    ...helpRoutes,
    deployRoute,
    accountRoute,
  ]),
]);

export const router = createRouter({
  routeTree: tree,
  context: { queryClient },
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultPendingMinMs: 0,
  scrollRestoration: true,
});

// Nothing that was fetched for somebody stays on the screen or in the cache once their session has ended.
whenSessionIsLost(() => {
  const { pathname, href } = router.state.location;
  if (OUTSIDE.includes(pathname)) return;
  setPaused(true);
  queryClient.clear();
  void router.navigate({ to: '/login', search: { return_to: href } });
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
