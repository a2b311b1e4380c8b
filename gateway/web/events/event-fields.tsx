// The fields of what is found: the most frequent values of each, asked for when it is opened, and the way to look for one of
// them alone or to leave it out.
import { ActionIcon } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import type { FieldName } from '../../../machines/detection/fields.ts';
import { useApi } from '../api/client.ts';
import { fieldIs } from '../design/condition-parts.ts';
import { Icon } from '../design/icons.tsx';
import { exact, short } from '../design/numbers.ts';
import { Answered } from '../design/states.tsx';
import type { EventQuestion } from './event-search.ts';
import { EVENT_TEXTS as TEXTS } from './texts.ts';

const VALUES_SHOWN = 8;
const NUMBERS: ReadonlySet<FieldName> = new Set(['process.uid', 'network.destination_port']);
const FIELDS = [
  ...(['event_kind', 'severity', 'node_name', 'process.binary', 'parent.binary'] as const),
  ...(['process.uid', 'network.destination_ip', 'network.destination_port'] as const),
  ...(['network.domain', 'file.path', 'policy.name', 'mitre.technique'] as const),
  ...(['workload.k8s_namespace', 'workload.image'] as const),
] as const satisfies readonly FieldName[];
const OPEN_AT_FIRST: ReadonlySet<FieldName> = new Set(['event_kind', 'process.binary']);

type Props = {
  readonly question: EventQuestion;
  /** Takes one more part of the condition. */
  readonly onPart: (part: string) => void;
};

export function EventFields({ question, onPart }: Props) {
  return (
    <aside className="fs-fields" aria-label={TEXTS.fields}>
      <p className="fs-meta">{TEXTS.fieldsHint}</p>
      {FIELDS.map((field) => (
        <FieldValues key={field} field={field} question={question} onPart={onPart} />
      ))}
    </aside>
  );
}

function FieldValues({ field, question, onPart }: Props & { readonly field: FieldName }) {
  const [isOpen, setOpen] = useState(OPEN_AT_FIRST.has(field));
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="fs-mono">{field}</summary>
      {isOpen && <Top field={field} question={question} onPart={onPart} />}
    </details>
  );
}

function Top({ field, question, onPart }: Props & { readonly field: FieldName }) {
  const top = useApi(
    'GET /events/top',
    { query: { ...question, field, limit: VALUES_SHOWN } },
    { placeholderData: keepPreviousData },
  );
  return (
    <Answered of={top} rows={3}>
      {({ items, events, distinct }) =>
        items.length === 0 ? (
          <p className="fs-meta">{TEXTS.noValues}</p>
        ) : (
          <>
            <ul className="fs-values">
              {items.map(({ value, events: count }) => (
                <Value
                  key={value}
                  value={value}
                  count={count}
                  part={events === 0 ? 0 : count / events}
                  onChoose={(isNot) =>
                    onPart(fieldIs(field, NUMBERS.has(field) ? Number(value) : value, isNot))
                  }
                />
              ))}
            </ul>
            <p className="fs-meta">{TEXTS.distinct(exact(distinct), short(events))}</p>
          </>
        )
      }
    </Answered>
  );
}

function Value({
  value,
  count,
  part,
  onChoose,
}: {
  readonly value: string;
  readonly count: number;
  readonly part: number;
  readonly onChoose: (isNot: boolean) => void;
}) {
  return (
    <li>
      <span className="fs-value-bar" style={{ width: `${part * 100}%` }} aria-hidden="true" />
      <span className="fs-value-text" title={value}>
        <bdi>{value}</bdi>
      </span>
      <span className="fs-num fs-meta" title={exact(count)}>
        {short(count)}
      </span>
      <ActionIcon
        size={24}
        aria-label={TEXTS.only(value)}
        title={TEXTS.only(value)}
        onClick={() => onChoose(false)}
      >
        <Icon name="plus" size={12} />
      </ActionIcon>
      <ActionIcon
        size={24}
        aria-label={TEXTS.without(value)}
        title={TEXTS.without(value)}
        onClick={() => onChoose(true)}
      >
        <Icon name="minus" size={12} />
      </ActionIcon>
    </li>
  );
}
