// The frame of one page: its title, one primary action at the right, and the content below.
import { Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

export type Fact = readonly [name: string, value: ReactNode];

export function PageFrame({
  title,
  about,
  action,
  narrow = false,
  children,
}: {
  readonly title: string;
  readonly about?: ReactNode;
  readonly action?: ReactNode;
  readonly narrow?: boolean;
  readonly children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Fleet runtime security`;
  }, [title]);
  return (
    <div className="fs-page">
      <div className="fs-page-head">
        <div>
          <Title order={1}>{title}</Title>
          {about !== undefined && <div className="fs-quiet">{about}</div>}
        </div>
        {action}
      </div>
      {narrow ? <div className="fs-narrow">{children}</div> : children}
    </div>
  );
}

export function Panel({
  title,
  children,
  className = '',
}: {
  readonly title?: string;
  readonly children: ReactNode;
  readonly className?: string;
}) {
  return (
    <section className={`fs-panel ${className}`} {...(title ? { 'aria-label': title } : {})}>
      {title !== undefined && <h2>{title}</h2>}
      {children}
    </section>
  );
}

/** Names and values. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className="fs-facts">
      {facts.map(([name, value]) => (
        <div key={name} className="fs-fact">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
