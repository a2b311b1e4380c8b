// The time range of a page: quick ones, one's own, a step earlier or later, and out again. Its state is the address.
import { ActionIcon, Button, Popover, Select, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Icon } from './icons.tsx';
import { instantOf, type Range, rangeOf, type Span, shifted, spanOf, widened } from './range.ts';
import { DESIGN_TEXTS as TEXTS } from './texts.ts';
import { listed } from './time.tsx';

const OWN = 'own';

export function TimeRange({
  value,
  fallback,
  onChange,
}: {
  readonly value: Range;
  /** What an absent beginning means, like `now-1h`. */
  readonly fallback: keyof typeof TEXTS.ranges;
  readonly onChange: (range: Range) => void;
}) {
  const [isOwn, setOwn] = useState(false);
  const from = value.from ?? fallback;
  const isQuick = value.to === undefined && Object.hasOwn(TEXTS.ranges, from);
  const move = (next: (span: Span) => Span) => () => {
    const span = spanOf(value, fallback, Date.now());
    if (span !== null) onChange(rangeOf(next(span)));
  };
  const data = Object.entries(TEXTS.ranges).map(([name, label]) => ({ value: name, label }));
  return (
    <div className="fs-range">
      <Step name="earlier" icon="left" onClick={move((span) => shifted(span, -1))} />
      <Popover opened={isOwn} onChange={setOwn} trapFocus withinPortal position="bottom-start">
        <Popover.Target>
          <Select
            size="sm"
            w={isQuick ? 160 : 280}
            aria-label={TEXTS.range}
            allowDeselect={false}
            data={[...data, { value: OWN, label: isQuick ? `${TEXTS.ownRange}…` : told(value) }]}
            value={isQuick ? from : OWN}
            onOptionSubmit={(name) => {
              if (name === OWN) setOwn(true);
              else onChange({ from: name === fallback ? undefined : name });
            }}
          />
        </Popover.Target>
        <Popover.Dropdown>
          <Own
            value={value}
            fallback={fallback}
            onUse={(range) => {
              setOwn(false);
              onChange(range);
            }}
          />
        </Popover.Dropdown>
      </Popover>
      <Step name="later" icon="right" onClick={move((span) => shifted(span, 1))} />
      <Step name="wider" icon="wider" onClick={move((span) => widened(span, Date.now()))} />
    </div>
  );
}

function Step({
  name,
  icon,
  onClick,
}: {
  readonly name: 'earlier' | 'later' | 'wider';
  readonly icon: 'left' | 'right' | 'wider';
  readonly onClick: () => void;
}) {
  return (
    <ActionIcon size={30} aria-label={TEXTS[name]} title={TEXTS[name]} onClick={onClick}>
      <Icon name={icon} />
    </ActionIcon>
  );
}

function Own({
  value,
  fallback,
  onUse,
}: {
  readonly value: Range;
  readonly fallback: string;
  readonly onUse: (range: Range) => void;
}) {
  const [from, setFrom] = useState(value.from ?? fallback);
  const [to, setTo] = useState(value.to ?? 'now');
  const nowMs = Date.now();
  const fault = (text: string) => (instantOf(text.trim(), nowMs) === null ? TEXTS.noInstant : null);
  const use = (event: FormEvent) => {
    event.preventDefault();
    if (fault(from) !== null || fault(to) !== null) return;
    onUse({ from: from.trim(), to: to.trim() === 'now' ? undefined : to.trim() });
  };
  return (
    <form className="fs-own-range" onSubmit={use}>
      <TextInput
        label={TEXTS.from}
        value={from}
        maxLength={40}
        error={fault(from)}
        onChange={({ currentTarget }) => setFrom(currentTarget.value)}
      />
      <TextInput
        label={TEXTS.to}
        value={to}
        maxLength={40}
        error={fault(to)}
        onChange={({ currentTarget }) => setTo(currentTarget.value)}
      />
      <p className="fs-meta">{TEXTS.rangeHint}</p>
      <Button type="submit">{TEXTS.useRange}</Button>
    </form>
  );
}

function told({ from = '', to = 'now' }: Range): string {
  return [from, to]
    .map((text) => (text.startsWith('now') || instantOf(text, 0) === null ? text : listed(text)))
    .join(' – ');
}
