// What a node holds, section by section: processes, network, packages, images. The columns are the fields that the sensor
// told, the known ones first.
import { SegmentedControl, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { InventorySectionName } from '../../../machines/wire/inventory.ts';
import { useApi } from '../api/client.ts';
import type { Flow } from '../api/contract.ts';
import { ApiProblem } from '../api/problem.ts';
import { exact } from '../design/numbers.ts';
import { Answered, NoMatch, Nothing } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { SENSOR_TEXTS as TEXTS } from './texts.ts';

const route = getRouteApi('/shell/sensors/$id');
const ITEMS = 500;
type Item = Readonly<Record<string, unknown>>;
const FIRST = ['pid', 'name', 'binary', 'command', 'protocol', 'ip', 'local_ip', 'port'] as const;
const NARROW = new Set(['pid', 'port', 'local_port', 'remote_port', 'protocol', 'state', 'uid']);

export function ProcessesTab() {
  return <Section section="processes" />;
}

export function NetworkTab() {
  const [part, setPart] = useState('listening_services');
  return (
    <>
      <SegmentedControl
        size="xs"
        value={part}
        onChange={setPart}
        data={[
          { value: 'listening_services', label: TEXTS.listening },
          { value: 'connections', label: TEXTS.connections },
          { value: 'flows', label: TEXTS.flows },
        ]}
      />
      {part === 'flows' ? <Flows /> : <Section key={part} section={part as 'connections'} />}
    </>
  );
}

export function InventoryTab() {
  const [part, setPart] = useState<InventorySectionName>('container_images');
  const parts = ['container_images', 'kubernetes', 'packages', 'baselines', 'telecom'] as const;
  return (
    <>
      <SegmentedControl
        size="xs"
        value={part}
        onChange={(next) => setPart(next as InventorySectionName)}
        data={parts.map((value) => ({ value, label: wordsOf(value) }))}
      />
      <Section key={part} section={part} />
    </>
  );
}

function Section({ section }: { readonly section: InventorySectionName }) {
  const { id } = route.useParams();
  const [filter, setFilter] = useState('');
  const found = useApi('GET /sensors/:id/inventory/:section', {
    params: { id, section },
    query: { limit: ITEMS },
  });
  if (found.error instanceof ApiProblem && found.error.status === 404) {
    return <Nothing title={TEXTS.noSuch(wordsOf(section))} />;
  }
  return (
    <Answered of={found}>
      {({ items, total, stored_at: storedAt }) => {
        const wanted = filter.toLowerCase();
        const shown = items.filter((item) => textOf(item).toLowerCase().includes(wanted));
        return (
          <>
            <div className="fs-toolbar">
              <TextInput
                size="xs"
                w={220}
                placeholder={TEXTS.filterRows}
                aria-label={TEXTS.filterRows}
                value={filter}
                onChange={({ currentTarget }) => setFilter(currentTarget.value)}
              />
              <span className="fs-meta fs-num">
                {TEXTS.shownOf(exact(shown.length), exact(total))}, {TEXTS.stored.toLowerCase()}{' '}
                <Ago at={storedAt} />
              </span>
            </div>
            {shown.length === 0 ? (
              <NoMatch title={TEXTS.noMatch} onClear={() => setFilter('')} />
            ) : (
              <DataTable
                label={wordsOf(section)}
                columns={columnsOf(items)}
                rows={shown}
                rowKey={(item) => `${items.indexOf(item)}`}
              />
            )}
          </>
        );
      }}
    </Answered>
  );
}

function columnsOf(items: readonly Item[]): readonly Column<Item>[] {
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))];
  const rank = (name: string) => {
    const at = (FIRST as readonly string[]).indexOf(name);
    return at === -1 ? FIRST.length : at;
  };
  return names
    .sort((a, b) => rank(a) - rank(b))
    .map((name) => ({
      ...{ id: name, title: wordsOf(name) },
      width: NARROW.has(name) ? 90 : 200,
      grows: !NARROW.has(name),
      isNumber: name === 'pid' || name.endsWith('port'),
      cell: (item) => {
        const text = valueText(item[name]);
        return <span title={text}>{text}</span>;
      },
    }));
}

const FLOW_COLUMNS: readonly Column<Flow>[] = [
  { id: 'binary', title: 'Binary', width: 200, grows: true, cell: (flow) => flow.binary },
  { id: 'direction', title: 'Direction', width: 90, cell: (flow) => flow.direction },
  { id: 'remote', title: 'Remote', width: 180, cell: (flow) => flow.domain || flow.remote_ip },
  { id: 'port', title: 'Port', width: 70, isNumber: true, cell: (flow) => flow.port },
  { id: 'protocol', title: 'Protocol', width: 80, cell: (flow) => flow.protocol },
  {
    ...{ id: 'connections', title: TEXTS.connections, width: 100, isNumber: true },
    cell: (flow) => exact(flow.connections),
  },
  { id: 'last', title: 'Last seen', width: 120, cell: (flow) => <Ago at={flow.last_seen_at} /> },
];

function Flows() {
  const { id } = route.useParams();
  const flows = useApi('GET /sensors/:id/flows', { params: { id }, query: { limit: ITEMS } });
  return (
    <Answered of={flows}>
      {({ items }) =>
        items.length === 0 ? (
          <Nothing title={TEXTS.noSuch('flows')} />
        ) : (
          <DataTable
            label={TEXTS.flows}
            columns={FLOW_COLUMNS}
            rows={items}
            rowKey={(flow) => JSON.stringify(flow)}
          />
        )
      }
    </Answered>
  );
}

function textOf(item: Item): string {
  return Object.values(item).map(valueText).join(' ');
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function wordsOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');
}
