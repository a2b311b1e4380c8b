// The filters of the list. Each is a part of the address, so that a view can be shared.
import { Button, MultiSelect, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { TRUST_HEALTHS, TRUST_STATES } from '../../../machines/wire/words.ts';
import { useApi } from '../api/client.ts';
import { useMay } from '../session/session.ts';
import {
  ENGINE,
  ENGINE_KINDS,
  FLAVORS,
  FRESHNESS,
  type SensorSearch,
  STREAM,
} from './sensor-search.ts';
import { SENSOR_TEXTS as TEXTS, wordOfState } from './texts.ts';

const TYPING_MS = 250;
const LABELS_SHOWN = 500;
type Props = {
  readonly search: SensorSearch;
  readonly onChange: (search: SensorSearch) => void;
};
type ListName =
  | 'trust_health'
  | 'trust_state'
  | 'freshness'
  | 'stream'
  | 'engine'
  | 'engine_kind'
  | 'flavor';

/** Which lists can be chosen from, in their order. */
const LISTS: readonly (readonly [ListName, string, readonly string[]])[] = [
  ['trust_health', TEXTS.health, TRUST_HEALTHS],
  ['freshness', TEXTS.freshness, FRESHNESS],
  ['engine', TEXTS.engine, ENGINE],
];
const MORE_LISTS: typeof LISTS = [
  ['trust_state', TEXTS.trustState, TRUST_STATES],
  ['stream', TEXTS.stream, STREAM],
  ['engine_kind', TEXTS.engineKind, ENGINE_KINDS],
  ['flavor', TEXTS.flavor, FLAVORS],
];
const MORE_NAMES = [
  ...[
    'trust_state',
    'stream',
    'engine_kind',
    'flavor',
    'os',
    'sensor_version',
    'tag',
    'group_id',
    'team_id',
  ],
] as const;

export function SensorFilters({ search, onChange }: Props) {
  const isUsed = MORE_NAMES.some((name) => name in search);
  const [isMore, setMore] = useState(isUsed);
  return (
    <search className="fs-toolbar">
      <TextFilter name="node_name" label={TEXTS.filterName} search={search} onChange={onChange} />
      {LISTS.map((list) => (
        <ListFilter key={list[0]} list={list} search={search} onChange={onChange} />
      ))}
      {isMore && <MoreFilters search={search} onChange={onChange} />}
      <Button variant="subtle" onClick={() => setMore(!isMore)} aria-expanded={isMore}>
        {isMore ? TEXTS.fewerFilters : TEXTS.moreFilters}
      </Button>
    </search>
  );
}

function MoreFilters({ search, onChange }: Props) {
  const may = useMay();
  const groups = useApi(
    'GET /groups',
    { query: { limit: LABELS_SHOWN } },
    { enabled: may('groups:read') },
  );
  const teams = useApi(
    'GET /teams',
    { query: { limit: LABELS_SHOWN } },
    { enabled: may('teams:read') },
  );
  return (
    <>
      {MORE_LISTS.map((list) => (
        <ListFilter key={list[0]} list={list} search={search} onChange={onChange} />
      ))}
      <TextFilter name="os" label={TEXTS.filterOs} search={search} onChange={onChange} />
      <TextFilter name="tag" label={TEXTS.tag} search={search} onChange={onChange} />
      {(
        [
          ['group_id', TEXTS.group, groups.data?.items],
          ['team_id', TEXTS.team, teams.data?.items],
        ] as const
      ).map(([name, label, items = []]) => (
        <Select
          key={name}
          size="xs"
          w={150}
          clearable
          searchable
          placeholder={label}
          aria-label={label}
          data={items.map((one) => ({ value: one.id, label: one.name }))}
          value={search[name] ?? null}
          onChange={(value) => onChange(withFilter(search, name, value ?? undefined))}
        />
      ))}
    </>
  );
}

function ListFilter({
  list: [name, label, values],
  search,
  onChange,
}: Props & { readonly list: (typeof LISTS)[number] }) {
  const chosen: readonly string[] = search[name] ?? [];
  return (
    <MultiSelect
      size="xs"
      miw={130}
      maw={260}
      clearable
      placeholder={chosen.length === 0 ? label : ''}
      aria-label={label}
      data={values.map((value) => ({ value, label: wordOfState(value) }))}
      value={[...chosen]}
      onChange={(next) => onChange(withFilter(search, name, next.length === 0 ? undefined : next))}
    />
  );
}

function TextFilter({
  name,
  label,
  search,
  onChange,
}: Props & { readonly name: 'node_name' | 'os' | 'tag'; readonly label: string }) {
  const [typed, setTyped] = useState(search[name] ?? '');
  const tell = useDebouncedCallback((value: string) => {
    onChange(withFilter(search, name, value === '' ? undefined : value));
  }, TYPING_MS);
  return (
    <TextInput
      size="xs"
      w={160}
      placeholder={label}
      aria-label={label}
      maxLength={64}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        tell(currentTarget.value.trim());
      }}
    />
  );
}

function withFilter(search: SensorSearch, name: keyof SensorSearch, value: unknown): SensorSearch {
  const { [name]: _before, ...others } = search;
  return (value === undefined ? others : { ...others, [name]: value }) as SensorSearch;
}
