// How the Console itself stands: its actors, its stores, its license, and how much of what happened it has.
import { Link } from '@tanstack/react-router';
import { activeIn } from '../actors/state-tree.ts';
import { useApi } from '../api/client.ts';
import type { Actors } from '../api/contract.ts';
import { exact, percent } from '../design/numbers.ts';
import { Facts, Panel } from '../design/page.tsx';
import { Mark, type Tone } from '../design/shape.tsx';
import { Answered } from '../design/states.tsx';
import { useMay } from '../session/session.ts';
import { OVERVIEW_TEXTS as TEXTS } from './texts.ts';

const SENSORS_COUNTED = 500;

export function ConsolePanels() {
  const may = useMay();
  return (
    <>
      {may('system:read') && <SystemPanel />}
      {may('system:read') && <AnalyticsPanel />}
      {may('license:read') && <LicensePanel />}
      <CoveragePanel />
    </>
  );
}

function SystemPanel() {
  const actors = useApi(
    'GET /system/actors',
    { query: { kind: 'store-process' } },
    { refetchInterval: 15_000 },
  );
  return (
    <Panel title={TEXTS.stores}>
      <Answered of={actors} rows={3}>
        {({ items, counts, crashes }) => (
          <Facts
            facts={[
              ...items.map(
                (store) => [store.id, <StoreMark key={store.id} store={store} />] as const,
              ),
              [
                TEXTS.actors,
                <Link key="actors" to="/actors">
                  {exact(Object.values(counts).reduce((sum, one) => sum + one, 0))}
                </Link>,
              ],
              [
                TEXTS.crashes,
                <Link key="crashes" to="/actors">
                  {exact(crashes.length)}
                </Link>,
              ],
            ]}
          />
        )}
      </Answered>
    </Panel>
  );
}

function StoreMark({ store }: { readonly store: Actors['items'][number] }) {
  const [state = 'unknown'] = activeIn(store.value);
  return <Mark tone={state === 'ready' ? 'good' : 'warn'}>{state}</Mark>;
}

const HEALTH_TONES: Readonly<Record<string, Tone>> = {
  ...{ healthy: 'good', degraded: 'warn', away: 'bad', unknown: 'stale' },
};

function AnalyticsPanel() {
  const health = useApi('GET /system/analytics', {}, { refetchInterval: 15_000 });
  return (
    <Panel title={TEXTS.analytics}>
      <Answered of={health} rows={3}>
        {(one) => (
          <>
            <Facts
              facts={[
                [
                  TEXTS.state,
                  <Mark key="state" tone={HEALTH_TONES[one.state] ?? 'stale'}>
                    {one.state}
                  </Mark>,
                ],
                [TEXTS.insert, msText(one.insert_ms)],
                [TEXTS.question, msText(one.query_ms)],
                [TEXTS.parts, one.parts === null ? '–' : exact(one.parts)],
                [TEXTS.merges, one.merges === null ? '–' : exact(one.merges)],
                [TEXTS.diskFree, shareText(one.disk_free_bytes, one.disk_total_bytes)],
              ]}
            />
            {one.findings.map(({ code, text }) => (
              <p key={code} className="fs-wrap">
                {text}
              </p>
            ))}
          </>
        )}
      </Answered>
    </Panel>
  );
}

function msText(ms: number | null): string {
  return ms === null ? '–' : `${exact(ms)} ms`;
}

function shareText(part: number | null, whole: number | null): string {
  return part === null || whole === null || whole === 0 ? '–' : percent(part / whole);
}

const TONES = { info: 'soon', warning: 'warn', critical: 'bad' } as const;

function LicensePanel() {
  const license = useApi('GET /license', {});
  return (
    <Panel title={TEXTS.license}>
      <Answered of={license} rows={3}>
        {({ phase, enrollment, banners }) => (
          <>
            <Facts
              facts={[
                [TEXTS.phase, phase],
                [
                  TEXTS.nodes,
                  `${exact(enrollment.protected_nodes)} / ${enrollment.nodes_allowed === null ? TEXTS.noLimit : exact(enrollment.nodes_allowed)}`,
                ],
              ]}
            />
            {banners.map((banner) => (
              <p key={banner.reason} className="fs-mark fs-wrap">
                <Mark tone={TONES[banner.level]}>{banner.level}</Mark> {banner.text}
              </p>
            ))}
          </>
        )}
      </Answered>
    </Panel>
  );
}

function CoveragePanel() {
  const coverage = useApi('GET /coverage', { query: { limit: SENSORS_COUNTED } });
  return (
    <Panel title={TEXTS.coverage}>
      <Answered of={coverage} rows={3}>
        {({ items }) => {
          const seen = items.reduce((sum, one) => sum + one.seen, 0);
          const lost = items.reduce((sum, one) => sum + one.lost, 0);
          if (seen + lost === 0) return <p className="fs-quiet">{TEXTS.noCoverage}</p>;
          return (
            <Facts
              facts={[
                [
                  TEXTS.coverage,
                  <Link key="share" to="/coverage">
                    {percent(seen / (seen + lost))}
                  </Link>,
                ],
                [TEXTS.seen, exact(seen)],
                [TEXTS.lost, exact(lost)],
              ]}
            />
          );
        }}
      </Answered>
    </Panel>
  );
}
