// The bar in which a condition is typed, with its fields suggested and its mistakes pointed at, and the parts of what is
// asked as chips below: each can be turned round and taken away.
import { Autocomplete, Button } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useId, useState } from 'react';
import { Chip, Chips } from './chips.tsx';
import { faultIn, partsOf, suggestionsFor, withoutPart, withTurned } from './condition-parts.ts';
import { DESIGN_TEXTS as TEXTS } from './texts.ts';

export type QueryBarProps = {
  /** The condition that is asked now. */
  readonly value: string | undefined;
  readonly onChange: (condition: string | undefined) => void;
  readonly label: string;
  readonly placeholder: string;
  readonly maxChars: number;
  /** Other filters as chips, before those of the condition. */
  readonly chips?: ReactNode;
  /** What stands beside the bar. */
  readonly children?: ReactNode;
};

export function QueryBar(props: QueryBarProps) {
  const { value = '', onChange, label, maxChars } = props;
  const [typed, setTyped] = useState(value);
  const [fault, setFault] = useState<ReturnType<typeof faultIn>>(null);
  const faultId = useId();
  // Whoever changes the condition elsewhere (a chip, a link, the way back) changes the text as well.
  useEffect(() => {
    setTyped(value);
    setFault(null);
  }, [value]);
  const suggestions = suggestionsFor(typed);
  const run = (event: FormEvent) => {
    event.preventDefault();
    const found = faultIn(typed);
    setFault(found);
    if (found === null) onChange(typed.trim() === '' ? undefined : typed.trim());
  };
  return (
    <search className="fs-query">
      <form className="fs-query-line" onSubmit={run}>
        <Autocomplete
          className="fs-query-text"
          size="sm"
          data-query-bar
          aria-label={label}
          aria-invalid={fault !== null}
          {...(fault === null ? {} : { 'aria-describedby': faultId })}
          placeholder={props.placeholder}
          maxLength={maxChars}
          spellCheck={false}
          autoCapitalize="off"
          value={typed}
          data={suggestions.map((one) => one.value)}
          filter={({ options }) => options}
          renderOption={({ option }) => {
            const found = suggestions.find((one) => one.value === option.value);
            return (
              <span className="fs-suggestion">
                <span className="fs-mono">{found?.name}</span>{' '}
                <span className="fs-meta">{found?.about}</span>
              </span>
            );
          }}
          onChange={(text) => {
            setTyped(text);
            setFault(null);
          }}
        />
        <Button type="submit" size="sm">
          {TEXTS.run}
        </Button>
        {props.children}
      </form>
      {fault !== null && (
        <p id={faultId} className="fs-fault" role="alert">
          {TEXTS.fault(fault.at, fault.detail)}
        </p>
      )}
      <Chips>
        {props.chips}
        <PartChips value={value} onChange={onChange} />
      </Chips>
    </search>
  );
}

function PartChips({
  value,
  onChange,
}: Pick<QueryBarProps, 'onChange'> & { readonly value: string }) {
  const change = (text: string) => onChange(text === '' ? undefined : text);
  return partsOf(value).map(({ text, isNot }, index) => (
    <Chip
      key={text}
      text={text}
      isNot={isNot}
      onTurn={() => change(withTurned(value, index))}
      onRemove={() => change(withoutPart(value, index))}
    />
  ));
}
