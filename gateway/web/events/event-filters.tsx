// The filters of events: the range, what is chosen from lists, what is typed, and each as a chip that can be taken away.
import { MultiSelect, Pill, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { EVENT_KINDS, SEVERITIES } from '../../../machines/wire/event.ts';
import { CONDITION_MAX_CHARS, type EventSearch, filtersOf } from './event-search.ts';
import { RANGE_DEFAULT, EVENT_TEXTS as TEXTS } from './texts.ts';

const TYPING_MS = 300;
type Props = {
  readonly search: EventSearch;
  readonly onChange: (search: EventSearch) => void;
};

export function EventFilters({ search, onChange }: Props) {
  const set = (name: keyof EventSearch, value: unknown) => {
    const { [name]: _before, ...others } = search;
    const isGone = value === undefined || value === '' || (value as []).length === 0;
    onChange((isGone ? others : { ...others, [name]: value }) as EventSearch);
  };
  return (
    <>
      <search className="fs-toolbar">
        <Select
          size="xs"
          w={160}
          aria-label={TEXTS.range}
          allowDeselect={false}
          data={Object.entries(TEXTS.ranges).map(([value, label]) => ({ value, label }))}
          value={search.from ?? RANGE_DEFAULT}
          onChange={(from) => set('from', from === RANGE_DEFAULT ? undefined : from)}
        />
        <MultiSelect
          size="xs"
          miw={130}
          maw={260}
          placeholder={TEXTS.severity}
          aria-label={TEXTS.severity}
          data={[...SEVERITIES]}
          value={search.severity ?? []}
          onChange={(value) => set('severity', value)}
        />
        <MultiSelect
          size="xs"
          miw={150}
          maw={320}
          searchable
          placeholder={TEXTS.kind}
          aria-label={TEXTS.kind}
          data={[...EVENT_KINDS]}
          value={search.event_kind ?? []}
          onChange={(value) => set('event_kind', value)}
        />
        <Typed name="q" label={TEXTS.filterCondition} value={search.q} onSet={set} />
        <Typed name="text" label={TEXTS.filterText} value={search.text} onSet={set} />
        <Typed name="binary" label={TEXTS.filterBinary} value={search.binary} onSet={set} />
      </search>
      <Chips search={search} onRemove={(name) => set(name, undefined)} />
    </>
  );
}

type TypedName = 'q' | 'text' | 'binary';

function Typed({
  name,
  label,
  value,
  onSet,
}: {
  readonly name: TypedName;
  readonly label: string;
  readonly value: string | undefined;
  readonly onSet: (name: TypedName, value: string) => void;
}) {
  const [typed, setTyped] = useState(value ?? '');
  const tell = useDebouncedCallback((text: string) => onSet(name, text), TYPING_MS);
  return (
    <TextInput
      size="xs"
      w={name === 'q' ? 300 : 170}
      placeholder={label}
      aria-label={label}
      maxLength={name === 'q' ? CONDITION_MAX_CHARS : 256}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        tell(currentTarget.value);
      }}
    />
  );
}

function Chips({
  search,
  onRemove,
}: {
  readonly search: EventSearch;
  readonly onRemove: (name: keyof EventSearch) => void;
}) {
  const chips = Object.entries(filtersOf(search)) as [keyof EventSearch, unknown][];
  if (chips.length === 0) return null;
  return (
    <div className="fs-toolbar">
      {chips.map(([name, value]) => {
        const text = `${name}: ${[value].flat().join(', ')}`;
        return (
          <Pill
            key={name}
            withRemoveButton
            removeButtonProps={{
              'aria-label': TEXTS.remove(text),
              'aria-hidden': false,
              tabIndex: 0,
            }}
            onRemove={() => onRemove(name)}
          >
            {text}
          </Pill>
        );
      })}
    </div>
  );
}
