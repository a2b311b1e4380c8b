// Text that is made to be taken along: a button that copies the whole of it, whatever is shown.
import { ActionIcon, CopyButton, Tooltip } from '@mantine/core';
import { Icon } from './icons.tsx';
import { shortId } from './numbers.ts';
import { DESIGN_TEXTS } from './texts.ts';

export function CopyText({ value, label }: { readonly value: string; readonly label?: string }) {
  return (
    <CopyButton value={value} timeout={1_500}>
      {({ copied, copy }) => {
        const said = copied ? DESIGN_TEXTS.copied : `${DESIGN_TEXTS.copy} ${label ?? ''}`.trim();
        return (
          <Tooltip label={said}>
            <ActionIcon onClick={copy} aria-label={said} size={24}>
              <Icon name={copied ? 'check' : 'copy'} size={14} />
            </ActionIcon>
          </Tooltip>
        );
      }}
    </CopyButton>
  );
}

/** An id, shortened in the middle, copied whole. */
export function Id({ id, label }: { readonly id: string; readonly label?: string }) {
  return (
    <span className="fs-mark">
      <span className="fs-mono" title={id}>
        {shortId(id)}
      </span>
      <CopyText value={id} label={label ?? 'id'} />
    </span>
  );
}

/** A command or secret on lines of its own. */
export function CodeLine({ value, label }: { readonly value: string; readonly label: string }) {
  return (
    <div className="fs-code">
      <code>{value}</code>
      <CopyText value={value} label={label} />
    </div>
  );
}
