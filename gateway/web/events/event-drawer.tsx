// One event whole: what happened, the process with everything above it, and the JSON as the Console stored it. Each fact can
// be looked for alone, or left out.
import { Link } from '@tanstack/react-router';
import type { FieldName } from '../../../machines/detection/fields.ts';
import type { EventItem } from '../api/contract.ts';
import { fieldIs } from '../design/condition-parts.ts';
import { CopyText, Id } from '../design/copy.tsx';
import { DetailDrawer } from '../design/detail-drawer.tsx';
import { Json } from '../design/json.tsx';
import { type Fact, Facts } from '../design/page.tsx';
import { SeverityMark } from '../design/severity.tsx';
import { At } from '../design/time.tsx';
import { EventProcess } from '../hunting/event-process.tsx';
import { EventUnusual } from '../hunting/event-unusual.tsx';
import { HUNTING_TEXTS } from '../hunting/texts.ts';
import { EVENT_TEXTS as TEXTS } from './texts.ts';

type Process = NonNullable<EventItem['process']>;
type Props = {
  /** undefined: there is none of that name; null: nothing is open. */
  readonly event: EventItem | null | undefined;
  readonly onClose: () => void;
  readonly onPrevious: (() => void) | undefined;
  readonly onNext: (() => void) | undefined;
  /** Takes one more part of the condition. */
  readonly onPart: (part: string) => void;
};

export function EventDrawer({ event, onPart, ...turns }: Props) {
  const isThere = event !== null && event !== undefined;
  return (
    <DetailDrawer
      {...turns}
      isOpen={event !== null}
      title={isThere ? <bdi>{event.message}</bdi> : TEXTS.event}
      tabs={
        isThere
          ? [
              {
                ...{ id: 'facts', label: TEXTS.event },
                content: () => <Whole event={event} onPart={onPart} />,
              },
              {
                ...{ id: 'ancestry', label: TEXTS.ancestry },
                content: () => <Ancestry event={event} />,
              },
              {
                ...{ id: 'process', label: HUNTING_TEXTS.process },
                content: () => <EventProcess event={event} />,
              },
              {
                ...{ id: 'unusual', label: HUNTING_TEXTS.why },
                content: () => <EventUnusual event={event} />,
              },
              { id: 'raw', label: TEXTS.raw, content: () => <Raw event={event} /> },
            ]
          : [{ id: 'facts', label: TEXTS.event, content: () => <p>{TEXTS.notFound}</p> }]
      }
    />
  );
}

function Whole({ event, onPart }: { readonly event: EventItem } & Pick<Props, 'onPart'>) {
  return (
    <>
      <p className="fs-break">
        <bdi>{event.message}</bdi>
      </p>
      <Facts facts={factsOf(event, onPart)} />
    </>
  );
}

function Raw({ event }: { readonly event: EventItem }) {
  return (
    <>
      <CopyText value={JSON.stringify(event, null, 2)} label={TEXTS.raw} />
      <Json value={event} />
    </>
  );
}

function factsOf(event: EventItem, onPart: Props['onPart']): readonly Fact[] {
  const { process, parent, network, file, policy, mitre, workload } = event;
  const value = (field: FieldName, is: string | number | undefined) => {
    const said = is === undefined || is === '' ? null : is;
    return said === null ? null : <Value key={field} {...{ field, is: said, onPart }} />;
  };
  const facts: (Fact | false)[] = [
    [TEXTS.time, <At key="at" at={event.observed_at} />],
    [TEXTS.severity, <SeverityMark key="severity" severity={event.severity} />],
    [TEXTS.kind, value('event_kind', event.event_kind)],
    [
      TEXTS.node,
      <Link key="node" to="/sensors/$id/overview" params={{ id: event.sensor_id }}>
        <bdi>{event.node_name}</bdi>
      </Link>,
    ],
    process !== undefined && [
      TEXTS.process,
      <div key="process">
        {value('process.binary', process.binary)}
        {value('process.arguments', process.arguments)}
        {value('process.pid', process.pid)}
        {value('process.uid', process.uid)}
      </div>,
    ],
    parent !== undefined && [TEXTS.parent, value('parent.binary', parent.binary)],
    network !== undefined && [
      TEXTS.network,
      <div key="network">
        <div>{`${network.protocol ?? ''} ${network.direction ?? ''} ${network.source_ip ?? ''}:${network.source_port ?? ''}`}</div>
        {value('network.domain', network.domain)}
        {value('network.destination_ip', network.destination_ip)}
        {value('network.destination_port', network.destination_port)}
      </div>,
    ],
    file !== undefined && [
      TEXTS.file,
      <div key="file">
        {value('file.operation', file.operation)}
        {value('file.path', file.path)}
      </div>,
    ],
    policy !== undefined && [
      TEXTS.policy,
      <div key="policy">
        {value('policy.name', policy.name)}
        {policy.action}
      </div>,
    ],
    mitre !== undefined && [TEXTS.technique, value('mitre.technique', mitre.technique)],
    workload !== undefined && [TEXTS.workload, Object.values(workload).join(' ')],
    [TEXTS.id, <Id key="id" id={event.event_id} label="event id" />],
  ];
  return facts.filter((fact) => fact !== false);
}

function Value({
  field,
  is,
  onPart,
}: {
  readonly field: FieldName;
  readonly is: string | number;
  readonly onPart: Props['onPart'];
}) {
  return (
    <div className="fs-value">
      {typeof is === 'number' && <span className="fs-quiet">{field.replace(/^.*\./, '')}</span>}
      <bdi className="fs-break">{is}</bdi>
      <span className="fs-value-acts">
        {([false, true] as const).map((isNot) => {
          const words = isNot ? TEXTS.without(field) : TEXTS.only(field);
          return (
            <button
              key={words}
              type="button"
              className="fs-row-button"
              aria-label={words}
              title={words}
              onClick={() => onPart(fieldIs(field, is, isNot))}
            >
              {isNot ? '−' : '+'}
            </button>
          );
        })}
      </span>
    </div>
  );
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
