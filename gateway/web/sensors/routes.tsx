import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { eventSearchOf } from '../events/event-search.ts';
import { shellRoute } from '../root-route.tsx';
import { present, textIn } from '../shell/search-params.ts';
import { sensorSearchOf } from './sensor-search.ts';

const sensorsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/sensors',
  staticData: {
    nav: { label: 'Sensors', icon: 'sensors', order: 2, key: 's', scope: 'sensors:read' },
  },
  validateSearch: sensorSearchOf,
  component: lazyRouteComponent(() => import('./sensors-page.tsx'), 'SensorsPage'),
});

const sensorRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/sensors/$id',
  component: lazyRouteComponent(() => import('./sensor-page.tsx'), 'SensorPage'),
});
const start = createRoute({
  getParentRoute: () => sensorRoute,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/sensors/$id/overview', params });
  },
});
const overview = createRoute({
  getParentRoute: () => sensorRoute,
  path: '/overview',
  component: lazyRouteComponent(() => import('./overview-tab.tsx'), 'OverviewTab'),
});
const actor = createRoute({
  getParentRoute: () => sensorRoute,
  path: '/actor',
  validateSearch: (search: Record<string, unknown>) => present({ at: textIn(search['at']) }),
  component: lazyRouteComponent(() => import('../actors/actor-tab.tsx'), 'ActorTab'),
});
const events = createRoute({
  getParentRoute: () => sensorRoute,
  path: '/events',
  validateSearch: eventSearchOf,
  component: lazyRouteComponent(() => import('../events/sensor-events.tsx'), 'SensorEvents'),
});
const processes = createRoute({
  getParentRoute: () => sensorRoute,
  path: '/processes',
  component: lazyRouteComponent(() => import('./inventory-tab.tsx'), 'ProcessesTab'),
});
const network = createRoute({
  getParentRoute: () => sensorRoute,
  path: '/network',
  component: lazyRouteComponent(() => import('./inventory-tab.tsx'), 'NetworkTab'),
});
const inventory = createRoute({
  getParentRoute: () => sensorRoute,
  path: '/inventory',
  component: lazyRouteComponent(() => import('./inventory-tab.tsx'), 'InventoryTab'),
});
const policies = createRoute({
  getParentRoute: () => sensorRoute,
  path: '/policies',
  component: lazyRouteComponent(() => import('../policy/sensor-policies.tsx'), 'SensorPolicies'),
});
const certificate = createRoute({
  getParentRoute: () => sensorRoute,
  path: '/certificate',
  component: lazyRouteComponent(() => import('./certificate-tab.tsx'), 'CertificateTab'),
});
const audit = createRoute({
  getParentRoute: () => sensorRoute,
  path: '/audit',
  component: lazyRouteComponent(() => import('../audit/sensor-audit.tsx'), 'SensorAudit'),
});

export const sensorRoutes = [
  sensorsRoute,
  sensorRoute.addChildren([
    ...([start, overview, actor, events, processes, network, inventory] as const),
    ...([policies, certificate, audit] as const),
  ]),
] as const;
