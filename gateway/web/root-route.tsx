// The root of all routes, and the frame of those that need a session. What a route shows in the navigation stands with the
// route itself, so that a capability is one folder and one line in router.tsx.
import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, Outlet, redirect } from '@tanstack/react-router';
import { ApiProblem } from './api/problem.ts';
import { Failed } from './design/states.tsx';
import { sessionQuestion } from './session/session.ts';
import type { Nav } from './shell/nav.ts';
import { NoSuchPage } from './shell/no-such-page.tsx';
import { Shell } from './shell/shell.tsx';

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    nav?: Nav;
  }
}

export const rootRoute = createRootRouteWithContext<{ readonly queryClient: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NoSuchPage,
  errorComponent: ({ error, reset }) => (
    <div className="fs-page">
      <Failed error={error} onRetry={reset} />
    </div>
  ),
});

/** Everything that needs somebody who is logged in whole. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: Shell,
  notFoundComponent: NoSuchPage,
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient
      .ensureQueryData(sessionQuestion())
      .catch((error: unknown) => {
        if (error instanceof ApiProblem && error.status === 401) return null;
        if (error instanceof ApiProblem && error.code === 'setup_required') {
          throw redirect({ to: '/setup' });
        }
        throw error;
      });
    if (session === null || session.stage !== 'full') {
      throw redirect({ to: '/login', search: { return_to: location.href } });
    }
  },
});
