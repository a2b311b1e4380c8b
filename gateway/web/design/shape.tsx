// A meaning as colour, shape and word: whoever sees no colours reads the shape, whoever sees nothing hears the word.
import type { ReactNode } from 'react';

export type Tone = 'good' | 'soon' | 'warn' | 'bad' | 'gone' | 'stale';

const SHAPES: Readonly<Record<Tone, ReactNode>> = {
  good: <circle cx="6" cy="6" r="4.5" fill="currentColor" />,
  soon: (
    <>
      <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <path d="M6 2a4 4 0 0 0 0 8z" fill="currentColor" />
    </>
  ),
  warn: <path d="M6 1.2 11.4 10.6H.6z" fill="currentColor" />,
  bad: <rect x="1.5" y="1.5" width="9" height="9" fill="currentColor" />,
  gone: (
    <path d="M2.5 2.5l7 7m0-7l-7 7" stroke="var(--fs-bad)" strokeWidth="2" strokeLinecap="round" />
  ),
  stale: <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" strokeWidth="1.5" />,
};

/** The shape alone, for where the word stands beside it. */
export function Shape({ tone, colour }: { readonly tone: Tone; readonly colour?: string }) {
  return (
    <svg
      width="12"
      height="12"
      viewBox="0 0 12 12"
      aria-hidden="true"
      color={colour ?? `var(--fs-${tone})`}
    >
      {SHAPES[tone]}
    </svg>
  );
}

/** A shape with its word. */
export function Mark({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <span className="fs-mark">
      <Shape tone={tone} />
      <span className="fs-mark-word">{children}</span>
    </span>
  );
}
