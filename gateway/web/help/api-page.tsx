// The API as it describes itself: every call by what it belongs to, with what it does and what it needs.
import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { API } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { PageFrame, Panel } from '../design/page.tsx';
import { Answered, NoMatch } from '../design/states.tsx';
import { HELP_TEXTS as TEXTS } from './texts.ts';

type Call = {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: string;
};
type Description = {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { summary?: string; description?: string; tags?: string[] }>>
    >
  >;
};

export function ApiPage() {
  const [filter, setFilter] = useState('');
  const description = useQuery({
    queryKey: ['openapi'],
    queryFn: async ({ signal }) => {
      const answer = await fetch(`${API}/openapi.json`, { signal });
      if (!answer.ok) throw await problemOf(answer);
      return callsOf((await answer.json()) as Description);
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <PageFrame
      title={TEXTS.api}
      about={TEXTS.apiAbout}
      action={<a href={`${API}/openapi.json`}>{TEXTS.description}</a>}
    >
      <TextInput
        size="xs"
        w={280}
        placeholder={TEXTS.filter}
        aria-label={TEXTS.filter}
        value={filter}
        onChange={({ currentTarget }) => setFilter(currentTarget.value)}
      />
      <Answered of={description}>
        {(calls) => {
          const wanted = filter.toLowerCase();
          const shown = calls.filter(({ path, summary }) =>
            `${path} ${summary}`.toLowerCase().includes(wanted),
          );
          if (shown.length === 0)
            return <NoMatch title={TEXTS.noMatch} onClear={() => setFilter('')} />;
          return [...Map.groupBy(shown, ({ tag }) => tag)].map(([tag, own]) => (
            <Panel key={tag} title={tag}>
              <dl className="fs-facts">
                {own.map(({ method, path, summary, description: more }) => (
                  <div key={`${method} ${path}`} className="fs-fact">
                    <dt className="fs-mono fs-break">
                      {method} {path}
                    </dt>
                    <dd>
                      {summary}
                      {more !== '' && <div className="fs-meta">{more}</div>}
                    </dd>
                  </div>
                ))}
              </dl>
            </Panel>
          ));
        }}
      </Answered>
    </PageFrame>
  );
}

function callsOf({ paths }: Description): readonly Call[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary = '', description = '', tags = [] }]) => ({
      ...{ method: method.toUpperCase(), path, summary, description },
      tag: tags[0] ?? 'other',
    })),
  );
}
