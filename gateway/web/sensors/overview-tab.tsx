// What is known of a sensor at a glance: its states, its node, why its health is what it is, how it uses its node.
import { Button, TagsInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { SHOWN_FIELDS } from '../../../machines/console/shown.ts';
import { span } from '../../../machines/span.ts';
import { call, useApi } from '../api/client.ts';
import type { Resources, SensorDetail } from '../api/contract.ts';
import { ContainmentPanel } from '../containment/containment-panel.tsx';
import { Id } from '../design/copy.tsx';
import { Failure, useForm } from '../design/form.tsx';
import { bytes, percent } from '../design/numbers.ts';
import { Facts, Panel } from '../design/page.tsx';
import { Answered } from '../design/states.tsx';
import { Ago } from '../design/time.tsx';
import { Trend } from '../design/trend.tsx';
import { useMay } from '../session/session.ts';
import { WhyPanel } from './health-badge.tsx';
import { shownFact } from './shown-fact.tsx';
import { StateMark } from './state-marks.tsx';
import { SENSOR_TEXTS as TEXTS } from './texts.ts';

const route = getRouteApi('/shell/sensors/$id');
const SAMPLES = 500;

export function OverviewTab() {
  const { id } = route.useParams();
  const sensor = useApi('GET /sensors/:id', { params: { id } });
  return (
    <Answered of={sensor}>
      {(data) => (
        <>
          <div className="fs-grid">
            <Panel title={TEXTS.health}>
              <WhyPanel sensorId={id} />
            </Panel>
            <StatesPanel sensor={data} />
            <ContainmentPanel sensor={data} />
            <NodePanel sensor={data} />
            <IdentityPanel sensor={data} />
          </div>
          <ResourcesPanel sensorId={id} />
        </>
      )}
    </Answered>
  );
}

function StatesPanel({ sensor }: { readonly sensor: SensorDetail }) {
  const { states, engine_kind: kind } = sensor;
  return (
    <Panel title={TEXTS.states}>
      <Facts
        facts={[
          [TEXTS.freshness, <StateMark key="f" state={states?.freshness} />],
          [TEXTS.stream, <StateMark key="s" state={states?.stream} />],
          [
            TEXTS.engine,
            <span key="e" className="fs-mark">
              <StateMark state={states?.engine} /> {kind}
            </span>,
          ],
          ...SHOWN_FIELDS.flatMap((field) => shownFact(field, sensor)),
        ]}
      />
    </Panel>
  );
}

function NodePanel({ sensor }: { readonly sensor: SensorDetail }) {
  const { system } = sensor;
  return (
    <Panel title={TEXTS.node}>
      <Facts
        facts={[
          [TEXTS.os, `${system.os_name} ${system.os_version}`],
          [TEXTS.kernel, system.kernel_version],
          [TEXTS.architecture, system.architecture],
          [TEXTS.version, sensor.sensor_version],
          [TEXTS.flavor, sensor.flavor],
          ...(sensor.declared_role === null ? [] : [[TEXTS.role, sensor.declared_role] as const]),
        ]}
      />
    </Panel>
  );
}

function IdentityPanel({ sensor }: { readonly sensor: SensorDetail }) {
  const may = useMay();
  const [isEditing, setEditing] = useState(false);
  return (
    <Panel title={TEXTS.identity}>
      <Facts
        facts={[
          [TEXTS.id, <Id key="id" id={sensor.sensor_id} label={TEXTS.id} />],
          [TEXTS.boot, <Id key="boot" id={sensor.boot_id} label={TEXTS.boot} />],
          [TEXTS.enrolled, <Ago key="at" at={sensor.enrolled_at} />],
          [TEXTS.tags, sensor.tags.length === 0 ? TEXTS.nothing : sensor.tags.join(', ')],
        ]}
      />
      {may('sensors:write') && !isEditing && (
        <Button variant="default" mt={12} onClick={() => setEditing(true)}>
          {TEXTS.editTags}
        </Button>
      )}
      {isEditing && <TagsForm sensor={sensor} onDone={() => setEditing(false)} />}
    </Panel>
  );
}

function TagsForm({
  sensor,
  onDone,
}: {
  readonly sensor: SensorDetail;
  readonly onDone: () => void;
}) {
  const cache = useQueryClient();
  const [tags, setTags] = useState<string[]>([...sensor.tags]);
  const { isBusy, failure, submit } = useForm(async () => {
    await call('PATCH /sensors/:id', { params: { id: sensor.sensor_id }, body: { tags } });
    await cache.invalidateQueries();
    onDone();
  });
  return (
    <form onSubmit={submit} className="fs-form">
      <TagsInput label={TEXTS.tags} value={tags} onChange={setTags} mt={12} />
      <Failure text={failure} />
      <div className="fs-toolbar">
        <Button type="submit" loading={isBusy}>
          {TEXTS.saveTags}
        </Button>
        <Button variant="default" onClick={onDone}>
          {TEXTS.cancel}
        </Button>
      </div>
    </form>
  );
}

function ResourcesPanel({ sensorId }: { readonly sensorId: string }) {
  const resources = useApi('GET /sensors/:id/resources', {
    params: { id: sensorId },
    query: { limit: SAMPLES },
  });
  return (
    <Panel title={TEXTS.resources}>
      <Answered of={resources} rows={3}>
        {({ items }) => {
          const [latest] = items;
          if (latest === undefined) return <p className="fs-quiet">{TEXTS.noResources}</p>;
          return (
            <div className="fs-grid">
              <Trend
                title={TEXTS.cpu}
                now={percent(latest.cpu_percent / 100)}
                values={seriesOf(items, (one) => one.cpu_percent)}
              />
              <Trend
                title={TEXTS.memory}
                now={bytes(latest.memory_bytes)}
                values={seriesOf(items, (one) => one.memory_bytes)}
              />
              <Facts
                facts={[
                  ...nodeFacts(latest),
                  [TEXTS.load, latest.load_1m ?? '–'],
                  [
                    TEXTS.disk,
                    latest.disk_free_bytes === null ? '–' : bytes(latest.disk_free_bytes),
                  ],
                  [
                    TEXTS.uptime,
                    latest.uptime_seconds === null ? '–' : span(latest.uptime_seconds * 1_000),
                  ],
                ]}
              />
            </div>
          );
        }}
      </Answered>
    </Panel>
  );
}

function seriesOf(items: readonly Resources[], read: (one: Resources) => number) {
  return items.map((one) => ({ at: one.at, value: read(one) })).reverse();
}

/** The whole node, beside the Sensor's own use. */
function nodeFacts({ node }: Resources): readonly (readonly [string, string])[] {
  if (node === null) return [];
  const used = node.memory_total_bytes - node.memory_available_bytes;
  return [
    [TEXTS.nodeCpu, percent(node.cpu_percent / 100)],
    [TEXTS.nodeMemory, TEXTS.shownOf(bytes(used), bytes(node.memory_total_bytes))],
  ];
}
