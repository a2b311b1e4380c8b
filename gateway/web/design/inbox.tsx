// A list to be worked off: j and k go down and up, x marks, Enter opens, and what is done with the marked ones (or with the
// one in hand) has a key of its own. Marked rows are counted in a bar that takes the place of the toolbar.
import { Button, Checkbox } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useKeys } from './keys.ts';
import { exact } from './numbers.ts';
import { DESIGN_TEXTS as TEXTS } from './texts.ts';

export type InboxAct<T> = {
  readonly label: string;
  /** A letter that does the same. */
  readonly key?: string;
  readonly run: (items: readonly T[]) => void;
};

type InboxProps<T> = {
  readonly label: string;
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
  /** What a screen reader calls the item. */
  readonly nameOf: (item: T) => string;
  readonly row: (item: T) => ReactNode;
  /** None where the role may do nothing with them. */
  readonly acts: readonly InboxAct<T>[];
  /** The one that is open beside the list. */
  readonly openKey?: string | undefined;
  readonly onOpen: (item: T) => void;
  readonly toolbar?: ReactNode;
};

export function Inbox<T>(props: InboxProps<T>) {
  const { label, items, keyOf, nameOf, row, acts, openKey, onOpen, toolbar } = props;
  const { marked, setMarked, handKey, setHandKey, chosen, mark, run } = useWork(props);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (handKey === null) return;
    list.current?.querySelector('[data-hand="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [handKey]);
  return (
    <section className="fs-inbox" aria-label={label}>
      <div className="fs-toolbar">
        {acts.length > 0 && items.length > 0 && (
          <Checkbox
            size="xs"
            aria-label={TEXTS.selectAll}
            checked={chosen.length === items.length}
            indeterminate={chosen.length > 0 && chosen.length < items.length}
            onChange={({ currentTarget }) =>
              setMarked(new Set(currentTarget.checked ? items.map(keyOf) : []))
            }
          />
        )}
        {chosen.length === 0 ? toolbar : <MarkedBar {...{ count: chosen.length, acts, run }} />}
      </div>
      <ul className="fs-inbox-list" ref={list}>
        {items.map((item) => (
          <li
            key={keyOf(item)}
            className="fs-inbox-row"
            data-hand={keyOf(item) === handKey}
            data-open={keyOf(item) === openKey}
          >
            {acts.length > 0 && (
              <Checkbox
                size="xs"
                aria-label={TEXTS.select(nameOf(item))}
                checked={marked.has(keyOf(item))}
                onChange={() => mark(item)}
              />
            )}
            <button
              type="button"
              className="fs-inbox-open"
              onClick={() => {
                setHandKey(keyOf(item));
                onOpen(item);
              }}
            >
              {row(item)}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Which items are marked and which is in hand, and the keys that move, mark, open and act. */
function useWork<T>({ items, keyOf, acts, onOpen }: InboxProps<T>) {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [handKey, setHandKey] = useState<string | null>(null);
  const chosen = items.filter((item) => marked.has(keyOf(item)));
  const hand = items.findIndex((item) => keyOf(item) === handKey);
  const move = (by: number) => {
    const next = items[Math.max(0, Math.min(items.length - 1, hand + by))];
    if (next !== undefined) setHandKey(keyOf(next));
  };
  const mark = (item: T) => {
    const next = new Set(marked);
    if (!next.delete(keyOf(item))) next.add(keyOf(item));
    setMarked(next);
  };
  const inHand = items[hand];
  const run = (act: InboxAct<T>) => {
    const meant = chosen.length > 0 ? chosen : inHand === undefined ? [] : [inHand];
    if (meant.length === 0) return;
    act.run(meant);
    setMarked(new Set());
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ...(acts.length === 0 || inHand === undefined ? {} : { x: () => mark(inHand) }),
    ...(inHand === undefined ? {} : { o: () => onOpen(inHand) }),
    ...Object.fromEntries(
      acts.flatMap((act) => (act.key === undefined ? [] : [[act.key, () => run(act)] as const])),
    ),
  });
  return { marked, setMarked, handKey, setHandKey, chosen, mark, run };
}

function MarkedBar<T>({
  count,
  acts,
  run,
}: {
  readonly count: number;
  readonly acts: readonly InboxAct<T>[];
  readonly run: (act: InboxAct<T>) => void;
}) {
  return (
    <>
      <span role="status">{TEXTS.selected(exact(count))}</span>
      {acts.map((act) => (
        <Button key={act.label} variant="default" onClick={() => run(act)}>
          {act.key === undefined ? act.label : `${act.label} (${act.key})`}
        </Button>
      ))}
    </>
  );
}
