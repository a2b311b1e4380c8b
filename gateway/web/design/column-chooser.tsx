// Which columns a table shows. The first stays, for it names the row.
import { Button, Checkbox, Popover } from '@mantine/core';
import { DESIGN_TEXTS as TEXTS } from './texts.ts';

type Choice = { readonly id: string; readonly title: string };

export function ColumnChooser({
  columns,
  shown,
  onChange,
}: {
  /** Those that can be left out. */
  readonly columns: readonly Choice[];
  readonly shown: readonly string[];
  /** undefined: the usual ones. */
  readonly onChange: (named: readonly string[] | undefined) => void;
}) {
  return (
    <Popover position="bottom-end" width={220} trapFocus>
      <Popover.Target>
        <Button variant="default">{TEXTS.columns}</Button>
      </Popover.Target>
      <Popover.Dropdown>
        <div className="fs-form">
          {columns.map(({ id, title }) => (
            <Checkbox
              key={id}
              size="xs"
              label={title}
              checked={shown.includes(id)}
              onChange={() =>
                onChange(shown.includes(id) ? shown.filter((one) => one !== id) : [...shown, id])
              }
            />
          ))}
          <Button variant="subtle" onClick={() => onChange(undefined)}>
            {TEXTS.usualColumns}
          </Button>
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}
