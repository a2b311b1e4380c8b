// JSON as text, and the difference between two of them line by line. Attackers' text is only ever text here.
import { useMemo } from 'react';
import { type Line, linesBetween } from './json-lines.ts';

const CLASSES: Readonly<Record<Line['is'], string>> = {
  same: '',
  added: 'fs-added',
  removed: 'fs-removed',
};
const SIGNS: Readonly<Record<Line['is'], string>> = { same: '  ', added: '+ ', removed: '- ' };

export function Json({ value }: { readonly value: unknown }) {
  const text = useMemo(() => JSON.stringify(value, null, 2), [value]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <pre className="fs-json" tabIndex={0}>
      {text}
    </pre>
  );
}

/** `after`, with what changed since `before`. */
export function JsonChange({
  before,
  after,
}: {
  readonly before: unknown;
  readonly after: unknown;
}) {
  const lines = useMemo(() => linesBetween(before, after), [before, after]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <pre className="fs-json" tabIndex={0}>
      {lines.map(({ is, text, at }) => (
        <span key={at} className={CLASSES[is]}>
          {`${SIGNS[is]}${text}${is === 'same' ? '\n' : ''}`}
        </span>
      ))}
    </pre>
  );
}
