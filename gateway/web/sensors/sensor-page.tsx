// One sensor: who it is and how it stands at the top, its parts as tabs, each with an address of its own.
import { Button } from '@mantine/core';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../api/client.ts';
import type { SensorDetail } from '../api/contract.ts';
import { useTopic } from '../api/live.ts';
import { PageFrame } from '../design/page.tsx';
import { Answered } from '../design/states.tsx';
import { Ago } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { HealthBadge } from './health-badge.tsx';
import { RevokeSensor } from './revoke-sensor.tsx';
import { StateMark } from './state-marks.tsx';
import { SENSOR_TEXTS as TEXTS } from './texts.ts';

const route = getRouteApi('/shell/sensors/$id');

const TABS = [
  ['/sensors/$id/overview', 'Overview', 'sensors:read'],
  ['/sensors/$id/actor', 'Actor', 'sensors:read'],
  ['/sensors/$id/events', 'Events', 'events:read'],
  ['/sensors/$id/processes', 'Processes', 'sensors:read'],
  ['/sensors/$id/network', 'Network', 'sensors:read'],
  ['/sensors/$id/inventory', 'Inventory', 'sensors:read'],
  ['/sensors/$id/policies', 'Policies', 'policies:read'],
  ['/sensors/$id/certificate', 'Certificate', 'sensors:read'],
  ['/sensors/$id/audit', 'Audit', 'audit:read'],
] as const;

export function SensorPage() {
  const { id } = route.useParams();
  const may = useMay();
  const sensor = useApi('GET /sensors/:id', { params: { id } });
  useTopic({ topic: 'sensor', id }, () => void sensor.refetch());
  return (
    <Answered of={sensor}>
      {(data) => (
        <PageFrame
          title={data.node_name}
          about={<Standing sensor={data} />}
          action={may('sensors:write') && <Acts sensor={data} />}
        >
          <nav className="fs-tabs" aria-label={TEXTS.tabs}>
            {TABS.filter(([, , scope]) => may(scope)).map(([to, label]) => (
              <Link key={to} to={to} params={{ id }} className="fs-tab">
                {label}
              </Link>
            ))}
          </nav>
          <Outlet />
        </PageFrame>
      )}
    </Answered>
  );
}

function Standing({ sensor }: { readonly sensor: SensorDetail }) {
  return (
    <div className="fs-toolbar">
      <HealthBadge sensorId={sensor.sensor_id} health={sensor.trust_health} />
      <StateMark state={sensor.states?.freshness} />
      <span>
        {TEXTS.heartbeat} <Ago at={sensor.last_heartbeat_at} />
      </span>
    </div>
  );
}

function Acts({ sensor }: { readonly sensor: SensorDetail }) {
  const [isRevoking, setRevoking] = useState(false);
  if (sensor.revoked_at !== null) return null;
  return (
    <>
      <Button color="red" variant="outline" onClick={() => setRevoking(true)}>
        {TEXTS.revoke}
      </Button>
      <RevokeSensor sensor={sensor} isOpen={isRevoking} onClose={() => setRevoking(false)} />
    </>
  );
}
