// What a list is filtered by, one chip each: its text turns it round where that means something, its cross takes it away.
import type { ReactNode } from 'react';
import { Icon } from './icons.tsx';
import { DESIGN_TEXTS as TEXTS } from './texts.ts';

export function Chips({ children }: { readonly children: ReactNode }) {
  return <ul className="fs-chips">{children}</ul>;
}

export function Chip({
  text,
  isNot = false,
  onTurn,
  onRemove,
}: {
  readonly text: string;
  readonly isNot?: boolean;
  readonly onTurn?: () => void;
  readonly onRemove: () => void;
}) {
  return (
    <li className="fs-chip" data-not={isNot}>
      {onTurn === undefined ? (
        <span className="fs-chip-text" title={text}>
          <bdi>{text}</bdi>
        </span>
      ) : (
        <button
          type="button"
          className="fs-chip-text"
          title={isNot ? TEXTS.include : TEXTS.exclude}
          onClick={onTurn}
        >
          <bdi>{text}</bdi>
        </button>
      )}
      <button
        type="button"
        className="fs-chip-remove"
        aria-label={TEXTS.removeFilter(text)}
        onClick={onRemove}
      >
        <Icon name="close" size={12} />
      </button>
    </li>
  );
}
