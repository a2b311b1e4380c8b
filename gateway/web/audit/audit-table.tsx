// Entries of the audit trail, newest first, page by page; one opens as a drawer with what was before and after.
import { Drawer } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api/client.ts';
import type { AnswerOf, Audit, QueryOf } from '../api/contract.ts';
import { CopyText } from '../design/copy.tsx';
import { Json, JsonChange } from '../design/json.tsx';
import { Facts } from '../design/page.tsx';
import { Mark } from '../design/shape.tsx';
import { Failed, Nothing, RowsSkeleton } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { At } from '../design/time.tsx';
import { AUDIT_TEXTS as TEXTS } from './texts.ts';

const PAGE = 200;
type Filter = Omit<QueryOf<'GET /audit'>, 'limit' | 'cursor'>;
type Page = AnswerOf<'GET /audit'>;

export function AuditTable({ filter, empty }: { readonly filter: Filter; readonly empty: string }) {
  const [open, setOpen] = useState<Audit | null>(null);
  const found = useInfiniteQuery({
    queryKey: ['GET /audit', filter],
    queryFn: ({ pageParam, signal }) => {
      const cursor = pageParam === '' ? {} : { cursor: pageParam };
      return call('GET /audit', { query: { ...filter, limit: PAGE, ...cursor } }, signal);
    },
    initialPageParam: '',
    getNextPageParam: (last: Page) => last.next_cursor,
  });
  const rows = found.data?.pages.flatMap(({ items }) => items) ?? [];
  if (found.isPending) return <RowsSkeleton />;
  if (found.isError) return <Failed error={found.error} onRetry={() => void found.refetch()} />;
  if (rows.length === 0) return <Nothing title={empty} />;
  return (
    <>
      <DataTable
        label={TEXTS.title}
        columns={columnsOf(setOpen)}
        rows={rows}
        rowKey={(row) => String(row.audit_id)}
        hasMore={found.hasNextPage}
        isLoadingMore={found.isFetchingNextPage}
        onMore={() => {
          if (!found.isFetching) void found.fetchNextPage();
        }}
      />
      <Drawer opened={open !== null} onClose={() => setOpen(null)} title={TEXTS.entry} size="lg">
        {open !== null && <Entry entry={open} />}
      </Drawer>
    </>
  );
}

function columnsOf(onOpen: (row: Audit) => void): readonly Column<Audit>[] {
  return [
    { id: 'at', title: TEXTS.when, width: 170, cell: (row) => <At at={row.at} /> },
    {
      id: 'actor',
      title: TEXTS.actor,
      width: 200,
      cell: (row) => <span title={row.actor}>{row.actor}</span>,
    },
    {
      ...{ id: 'action', title: TEXTS.action, width: 180 },
      cell: (row) => (
        <button type="button" className="fs-row-button" onClick={() => onOpen(row)}>
          {row.action}
        </button>
      ),
    },
    {
      ...{ id: 'target', title: TEXTS.target, width: 200, grows: true },
      cell: (row) => <span title={row.target}>{row.target}</span>,
    },
    {
      ...{ id: 'result', title: TEXTS.result, width: 130 },
      cell: (row) => <Mark tone={row.result === 'ok' ? 'good' : 'warn'}>{row.result}</Mark>,
    },
    { id: 'from', title: TEXTS.from, width: 130, cell: (row) => row.from },
    {
      ...{ id: 'sealed', title: TEXTS.sealed, width: 90, isNumber: true },
      cell: (row) => row.sequence ?? TEXTS.notSealed,
    },
  ];
}

function Entry({ entry }: { readonly entry: Audit }) {
  const { before, after, detail } = entry;
  const isChange = before !== null && after !== null;
  return (
    <div className="fs-form">
      <Facts
        facts={[
          [TEXTS.when, <At key="at" at={entry.at} />],
          [TEXTS.actor, entry.actor],
          [TEXTS.action, entry.action],
          [TEXTS.target, entry.target],
          [TEXTS.result, entry.result],
          [TEXTS.from, entry.from ?? '–'],
          ...(entry.hash === null
            ? []
            : [
                [
                  TEXTS.sealed,
                  <span key="hash" className="fs-mono">
                    {entry.sequence}, {entry.hash} <CopyText value={entry.hash} label="hash" />
                  </span>,
                ] as const,
              ]),
        ]}
      />
      {isChange && <JsonChange before={before} after={after} />}
      {!isChange && before !== null && <Json value={before} />}
      {!isChange && after !== null && <Json value={after} />}
      {Object.keys(detail).length > 0 && <Json value={detail} />}
    </div>
  );
}
