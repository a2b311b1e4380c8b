// What stands where rows would be: nothing yet, nothing that matches, failed, or still loading. Each looks different and
// says what to do.
import { Button, Skeleton, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { ApiProblem, sentenceOf } from '../api/problem.ts';
import { CopyText } from './copy.tsx';
import { Shape } from './shape.tsx';
import { DESIGN_TEXTS } from './texts.ts';

type Words = { readonly title: string; readonly children?: ReactNode };

/** Nothing is there yet: what it is, and the one thing to do. */
export function Nothing({ title, children, action }: Words & { readonly action?: ReactNode }) {
  return (
    <div className="fs-state">
      <Title order={2}>{title}</Title>
      {children !== undefined && <p className="fs-quiet">{children}</p>}
      {action}
    </div>
  );
}

/** Something is there, and the filters hide it. */
export function NoMatch({ title, onClear }: Words & { readonly onClear: () => void }) {
  return (
    <div className="fs-state">
      <p>{title}</p>
      <Button variant="default" onClick={onClear}>
        {DESIGN_TEXTS.clearFilters}
      </Button>
    </div>
  );
}

/** It failed: why, the request's id, and a retry. */
export function Failed({
  error,
  onRetry,
}: {
  readonly error: unknown;
  readonly onRetry?: () => void;
}) {
  const problem = error instanceof ApiProblem ? error : null;
  return (
    <div className="fs-state" role="alert">
      <Title order={2} className="fs-mark">
        <Shape tone="bad" /> {problem?.title ?? 'This failed'}
      </Title>
      <p>{sentenceOf(error)}</p>
      {problem?.requestId !== null && problem !== null && (
        <p className="fs-meta">
          {DESIGN_TEXTS.requestId} <span className="fs-mono">{problem.requestId}</span>{' '}
          <CopyText value={problem.requestId} label="request id" />
        </p>
      )}
      {onRetry !== undefined && (
        <Button variant="default" onClick={onRetry}>
          {DESIGN_TEXTS.retry}
        </Button>
      )}
    </div>
  );
}

/** Rows that are on their way, in the height they will have. */
export function RowsSkeleton({ rows = 8 }: { readonly rows?: number }) {
  return (
    <div role="status" aria-label={DESIGN_TEXTS.loading}>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows without content have nothing else
        <Skeleton key={row} height={16} my={8} width={`${95 - ((row * 17) % 40)}%`} />
      ))}
    </div>
  );
}

type Question<T> = {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly refetch: () => unknown;
};

/** Shows what an answer holds, or where it stands. */
export function Answered<T>({
  of,
  rows,
  children,
}: {
  readonly of: Question<T>;
  readonly rows?: number;
  readonly children: (data: T) => ReactNode;
}) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.error !== null && of.error !== undefined) {
    return <Failed error={of.error} onRetry={() => void of.refetch()} />;
  }
  return <RowsSkeleton {...(rows === undefined ? {} : { rows })} />;
}
