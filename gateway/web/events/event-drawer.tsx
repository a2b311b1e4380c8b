// One event whole: what happened, the process with everything above it, and the JSON as the Console stored it.
import { Drawer, Tabs } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { EventItem } from '../api/contract.ts';
import { CopyText, Id } from '../design/copy.tsx';
import { Json } from '../design/json.tsx';
import { type Fact, Facts } from '../design/page.tsx';
import { SeverityMark } from '../design/severity.tsx';
import { At } from '../design/time.tsx';
import type { EventSearch } from './event-search.ts';
import { EVENT_TEXTS as TEXTS } from './texts.ts';

type Process = NonNullable<EventItem['process']>;

export function EventDrawer({
  event,
  onClose,
  onFilter,
}: {
  readonly event: EventItem | null;
  readonly onClose: () => void;
  readonly onFilter: (more: EventSearch) => void;
}) {
  return (
    <Drawer opened={event !== null} onClose={onClose} title={TEXTS.event} size="lg">
      {event !== null && <Whole event={event} onFilter={onFilter} />}
    </Drawer>
  );
}

function Whole({
  event,
  onFilter,
}: {
  readonly event: EventItem;
  readonly onFilter: (more: EventSearch) => void;
}) {
  return (
    <Tabs defaultValue="facts" keepMounted={false}>
      <Tabs.List>
        <Tabs.Tab value="facts">{TEXTS.event}</Tabs.Tab>
        <Tabs.Tab value="ancestry">{TEXTS.ancestry}</Tabs.Tab>
        <Tabs.Tab value="raw">{TEXTS.raw}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="facts" pt={16}>
        <p className="fs-break">
          <bdi>{event.message}</bdi>
        </p>
        <Facts facts={factsOf(event, onFilter)} />
      </Tabs.Panel>
      <Tabs.Panel value="ancestry" pt={16}>
        <Ancestry event={event} />
      </Tabs.Panel>
      <Tabs.Panel value="raw" pt={16}>
        <CopyText value={JSON.stringify(event, null, 2)} label={TEXTS.raw} />
        <Json value={event} />
      </Tabs.Panel>
    </Tabs>
  );
}

function factsOf(event: EventItem, onFilter: (more: EventSearch) => void): readonly Fact[] {
  const { process, network, file, policy, mitre, workload } = event;
  const only = (more: EventSearch) => (
    <button type="button" className="fs-row-button" onClick={() => onFilter(more)}>
      {TEXTS.onlyThis}
    </button>
  );
  const facts: (Fact | false)[] = [
    [TEXTS.time, <At key="at" at={event.observed_at} />],
    [TEXTS.severity, <SeverityMark key="severity" severity={event.severity} />],
    [
      TEXTS.kind,
      <span key="kind">
        {event.event_kind} {only({ event_kind: [event.event_kind] })}
      </span>,
    ],
    [
      TEXTS.node,
      <Link key="node" to="/sensors/$id/overview" params={{ id: event.sensor_id }}>
        <bdi>{event.node_name}</bdi>
      </Link>,
    ],
    process !== undefined && [
      TEXTS.process,
      <span key="process">
        {process.binary} ({process.pid}) {only({ binary: process.binary.slice(0, 256) })}
      </span>,
    ],
    network !== undefined && [
      TEXTS.network,
      `${network.protocol} ${network.source_ip ?? ''}:${network.source_port ?? ''} → ${network.domain ?? network.destination_ip ?? ''}:${network.destination_port ?? ''}`,
    ],
    file !== undefined && [TEXTS.file, `${file.operation} ${file.path}`],
    policy !== undefined && [TEXTS.policy, `${policy.name}: ${policy.action}`],
    mitre !== undefined && [TEXTS.technique, `${mitre.technique} ${mitre.tactic}`],
    workload !== undefined && [TEXTS.workload, Object.values(workload).join(' ')],
    ['Id', <Id key="id" id={event.event_id} label="event id" />],
  ];
  return facts.filter((fact) => fact !== false);
}

function Ancestry({ event }: { readonly event: EventItem }) {
  const above = [...(event.ancestors ?? [])].reverse();
  const line: (Process | undefined)[] = [...above, event.parent, event.process];
  return (
    <ol className="fs-ancestry">
      {line
        .filter((one) => one !== undefined)
        .filter((one, index, all) => all.findIndex((o) => o.exec_id === one.exec_id) === index)
        .map((one, depth) => (
          <li key={one.exec_id} style={{ paddingLeft: depth * 12 }}>
            <span className="fs-mono fs-break">
              {one.binary} {one.arguments ?? ''}
            </span>{' '}
            <span className="fs-meta">pid {one.pid}</span>
          </li>
        ))}
    </ol>
  );
}
