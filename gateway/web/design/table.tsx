// The table of the house: columns by TanStack Table, rows by TanStack Virtual, so that ten thousand rows are a few dozen
// elements; sorted and filtered by the Console, which alone knows all rows.
import { type ColumnDef, tableFeatures, useTable } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef } from 'react';
import { Icon } from './icons.tsx';
import { exact } from './numbers.ts';
import { DESIGN_TEXTS } from './texts.ts';

const features = tableFeatures({});
const ROW_PX = 32;
const ROOMY_ROW_PX = 40;
const VIRTUAL_FROM = 100;
const OVERSCAN = 12;
/** Rows before the end at which the next page is asked for. */
const ASK_AHEAD = 20;
/** Fewer rows are counted by looking at them. */
const COUNT_FROM = 10;

export type Column<T> = {
  readonly id: string;
  readonly title: string;
  readonly width: number;
  /** Takes what is left of the width. */
  readonly grows?: boolean;
  readonly isNumber?: boolean;
  /** The name by which the Console sorts; absent where it does not. */
  readonly sort?: string;
  readonly cell: (row: T) => ReactNode;
};

export type TableProps<T> = {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string;
  readonly isRoomy?: boolean;
  readonly isSelected?: (row: T) => boolean;
  /** `name`, or `-name` for descending. */
  readonly sort?: string;
  readonly onSort?: (sort: string) => void;
  readonly hasMore?: boolean;
  readonly isLoadingMore?: boolean;
  readonly onMore?: () => void;
};

export function DataTable<T extends object>(props: TableProps<T>) {
  const { columns, rows, rowKey, label, isRoomy = false, onMore, hasMore = false } = props;
  const frame = useRef<HTMLElement>(null);
  const table = useTable({
    features,
    columns: columns.map(
      (column): ColumnDef<typeof features, T> => ({
        id: column.id,
        header: column.title,
        cell: ({ row }) => column.cell(row.original),
      }),
    ),
    data: rows as T[],
    getRowId: rowKey,
  });
  const all = table.getRowModel().rows;
  const isVirtual = all.length > VIRTUAL_FROM;
  const virtual = useVirtualizer({
    count: all.length,
    getScrollElement: () => frame.current,
    estimateSize: () => (isRoomy ? ROOMY_ROW_PX : ROW_PX),
    overscan: OVERSCAN,
    enabled: isVirtual,
  });
  const shown = isVirtual
    ? virtual.getVirtualItems().flatMap(({ index, start }) => {
        const row = all[index];
        return row === undefined ? [] : [{ row, start }];
      })
    : all.map((row) => ({ row, start: 0 }));
  const lastShown = isVirtual ? (virtual.getVirtualItems().at(-1)?.index ?? 0) : all.length;
  const wantsMore = hasMore && lastShown >= all.length - ASK_AHEAD;
  useEffect(() => {
    if (wantsMore) onMore?.();
  }, [wantsMore, onMore]);
  const isFullyKnown = !hasMore;
  return (
    <section
      ref={frame}
      className="fs-table-frame"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
    >
      <table
        className={`fs-table ${isRoomy ? 'fs-roomy' : ''}`}
        aria-label={label}
        aria-rowcount={isFullyKnown ? all.length + 1 : -1}
        style={{ minWidth: columns.reduce((sum, { width }) => sum + width, 0) }}
      >
        <thead>
          <tr>
            {columns.map((column) => (
              <HeadCell key={column.id} column={column} sort={props.sort} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        <tbody style={isVirtual ? { height: virtual.getTotalSize() } : {}}>
          {shown.map(({ row, start }) => (
            <tr
              key={row.id}
              aria-rowindex={row.index + 2}
              data-virtual={isVirtual}
              data-selected={props.isSelected?.(row.original) ?? false}
              style={isVirtual ? { transform: `translateY(${start}px)` } : {}}
            >
              {row.getAllCells().map((cell, index) => (
                <td
                  key={cell.id}
                  className={columns[index]?.isNumber === true ? 'fs-right' : ''}
                  style={widthOf(columns[index])}
                >
                  <table.FlexRender cell={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <div className="fs-table-end" role="status">
        {props.isLoadingMore === true
          ? DESIGN_TEXTS.loadingMore
          : isFullyKnown && all.length > COUNT_FROM && DESIGN_TEXTS.end(exact(all.length))}
      </div>
    </section>
  );
}

function HeadCell<T>({
  column,
  sort = '',
  onSort,
}: {
  readonly column: Column<T>;
  readonly sort: string | undefined;
  readonly onSort: ((sort: string) => void) | undefined;
}) {
  const { sort: name, title } = column;
  const isSorted = name !== undefined && sort.replace(/^-/, '') === name;
  const isDown = sort.startsWith('-');
  const order = isSorted ? (isDown ? 'descending' : 'ascending') : 'none';
  const className = column.isNumber === true ? 'fs-right' : '';
  if (name === undefined || onSort === undefined) {
    return (
      <th scope="col" className={className} style={widthOf(column)}>
        {title}
      </th>
    );
  }
  return (
    <th scope="col" className={className} style={widthOf(column)} aria-sort={order}>
      <button
        type="button"
        className="fs-sort"
        title={DESIGN_TEXTS.sortBy(title)}
        onClick={() => onSort(isSorted && !isDown ? `-${name}` : name)}
      >
        {title}
        {isSorted && <Icon name={isDown ? 'down' : 'up'} size={12} />}
      </button>
    </th>
  );
}

function widthOf(column: Pick<Column<never>, 'width' | 'grows'> | undefined) {
  return { flex: `${column?.grows === true ? 1 : 0} 0 ${column?.width ?? 100}px` };
}
