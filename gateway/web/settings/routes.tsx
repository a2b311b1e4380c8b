import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { shellRoute } from '../root-route.tsx';
import { sessionQuestion } from '../session/session.ts';
import { SETTINGS_PARTS } from './parts.ts';

const settingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/settings',
  staticData: {
    nav: { label: 'Settings', icon: 'settings', order: 100, key: 't', scope: 'license:read' },
  },
  component: lazyRouteComponent(() => import('./settings-page.tsx'), 'SettingsPage'),
});
const start = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/',
  beforeLoad: async ({ context }) => {
    const { scopes } = await context.queryClient.ensureQueryData(sessionQuestion());
    const first = SETTINGS_PARTS.find(([, , scope]) => scopes.includes(scope));
    throw redirect({ to: first?.[0] ?? '/settings/license' });
  },
});
const general = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/general',
  component: lazyRouteComponent(() => import('./general-tab.tsx'), 'GeneralTab'),
});
const users = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/users',
  component: lazyRouteComponent(() => import('./users-tab.tsx'), 'UsersTab'),
});
const teams = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/teams',
  component: lazyRouteComponent(() => import('./labels-tab.tsx'), 'TeamsTab'),
});
const groups = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/groups',
  component: lazyRouteComponent(() => import('./labels-tab.tsx'), 'GroupsTab'),
});
const sso = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/sso',
  component: lazyRouteComponent(() => import('./sso-tab.tsx'), 'SsoTab'),
});
const webhooks = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('../delivery/webhooks-tab.tsx'), 'WebhooksTab'),
});
const exports = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/exports',
  component: lazyRouteComponent(() => import('../exports/exports-tab.tsx'), 'ExportsTab'),
});
const digests = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/digests',
  component: lazyRouteComponent(() => import('../digest/digests-tab.tsx'), 'DigestsTab'),
});
const siem = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/siem',
  component: lazyRouteComponent(() => import('../siem/siem-tab.tsx'), 'SiemTab'),
});
const keys = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/api-keys',
  component: lazyRouteComponent(() => import('./keys-tab.tsx'), 'KeysTab'),
});
const tokens = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/tokens',
  component: lazyRouteComponent(() => import('./keys-tab.tsx'), 'TokensTab'),
});
const license = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/license',
  component: lazyRouteComponent(() => import('./license-tab.tsx'), 'LicenseTab'),
});

export const settingsRoutes = [
  settingsRoute.addChildren([
    ...([start, general, users, teams, groups] as const),
    ...([sso, webhooks, siem, digests, exports, keys, tokens, license] as const),
  ]),
] as const;
