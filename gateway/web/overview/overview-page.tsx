// What an operator wants to know first: how the fleet stands, what needs attention, whether the Console itself is well.
// Every number leads to the list behind it; on an empty fleet this is the first step of enrolling a node.
import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import type { TrustHealth } from '../../../machines/wire/heartbeat.ts';
import { TRUST_HEALTHS } from '../../../machines/wire/words.ts';
import { useApi } from '../api/client.ts';
import { useTopic } from '../api/live.ts';
import { Wizard } from '../deploy/deploy-page.tsx';
import { DEPLOY_TEXTS } from '../deploy/texts.ts';
import { exact } from '../design/numbers.ts';
import { Facts, PageFrame, Panel } from '../design/page.tsx';
import { Shape } from '../design/shape.tsx';
import { Answered } from '../design/states.tsx';
import { HEALTH_WORDS } from '../design/texts.ts';
import { Ago } from '../design/time.tsx';
import { HealthBadge, healthTone } from '../sensors/health-badge.tsx';
import { useMay } from '../session/session.ts';
import { ConsolePanels } from './console-panels.tsx';
import { FleetStates } from './fleet-panels.tsx';
import { RatePanel } from './rate-panel.tsx';
import { RecentPanels } from './recent-panels.tsx';
import { OVERVIEW_TEXTS as TEXTS } from './texts.ts';

type Counts = Readonly<Record<TrustHealth | 'total' | 'streams', number>>;
const UNWELL: readonly TrustHealth[] = ['degraded', 'renewal_due', 'renewal_recommended'];
const UNWELL_SHOWN = 8;

export function OverviewPage() {
  const [counts, setCounts] = useState<Counts | null>(null);
  const some = useApi('GET /sensors', { query: { limit: 1 } });
  const may = useMay();
  useTopic({ topic: 'fleet' }, (patch) => setCounts(patch['counts'] as Counts));
  // Who began with an empty fleet sees the first sensor arrive where the command stands.
  const beganEmpty = useRef(false);
  if (some.data?.items.length === 0 && (counts?.total ?? 0) === 0) beganEmpty.current = true;
  if (beganEmpty.current && may('tokens:write')) {
    return (
      <PageFrame title={TEXTS.first} about={DEPLOY_TEXTS.about} narrow>
        <Wizard />
      </PageFrame>
    );
  }
  return (
    <PageFrame title={TEXTS.title}>
      <div className="fs-grid">
        <FleetPanel counts={counts} />
        <FleetStates />
        <AttentionPanel counts={counts} />
        {may('events:read') && <RatePanel />}
        <ConsolePanels />
      </div>
      <RecentPanels />
    </PageFrame>
  );
}

function FleetPanel({ counts }: { readonly counts: Counts | null }) {
  return (
    <Panel title={TEXTS.fleet}>
      <ul className="fs-tally">
        {TRUST_HEALTHS.map((health) => (
          <li key={health}>
            <Link to="/sensors" search={{ trust_health: [health] }} className="fs-tally-link">
              <span className="fs-mark">
                <Shape tone={healthTone(health)} />
                {HEALTH_WORDS[health]}
              </span>
              <span className="fs-num">{counts === null ? '–' : exact(counts[health])}</span>
            </Link>
          </li>
        ))}
        <li>
          <Link to="/sensors" className="fs-tally-link">
            {TEXTS.total}
            <strong className="fs-num">{counts === null ? '–' : exact(counts.total)}</strong>
          </Link>
        </li>
        <li>
          <Link to="/sensors" search={{ stream: ['open'] }} className="fs-tally-link">
            {TEXTS.streams}
            <span className="fs-num">{counts === null ? '–' : exact(counts.streams)}</span>
          </Link>
        </li>
      </ul>
    </Panel>
  );
}

function AttentionPanel({ counts }: { readonly counts: Counts | null }) {
  const unwell = counts === null ? null : UNWELL.map((health) => counts[health]).join();
  const found = useApi(
    'GET /sensors',
    { query: { trust_health: [...UNWELL], limit: UNWELL_SHOWN } },
    { refetchInterval: unwell === null ? 60_000 : 15_000 },
  );
  return (
    <Panel title={TEXTS.attention}>
      <Answered of={found} rows={3}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="fs-quiet">{TEXTS.allWell}</p>
          ) : (
            <Facts
              facts={items.map((sensor) => [
                sensor.node_name,
                <span key={sensor.sensor_id} className="fs-toolbar">
                  <HealthBadge sensorId={sensor.sensor_id} health={sensor.trust_health} />
                  <Link to="/sensors/$id/overview" params={{ id: sensor.sensor_id }}>
                    <Ago at={sensor.last_heartbeat_at} />
                  </Link>
                </span>,
              ])}
            />
          )
        }
      </Answered>
    </Panel>
  );
}
