// One row of a list whole, in a drawer from the right: tabs, and the way to the row before and after it by button or by the
// keys j and k. The list stays where it is.
import { ActionIcon, Drawer, Tabs } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Icon } from './icons.tsx';
import { useKeys } from './keys.ts';
import { DESIGN_TEXTS as TEXTS } from './texts.ts';

export type DrawerTab = {
  readonly id: string;
  readonly label: string;
  readonly content: () => ReactNode;
};

export function DetailDrawer({
  isOpen,
  title,
  tabs,
  onClose,
  onPrevious,
  onNext,
}: {
  readonly isOpen: boolean;
  readonly title: ReactNode;
  readonly tabs: readonly DrawerTab[];
  readonly onClose: () => void;
  /** Absent at the first row. */
  readonly onPrevious?: (() => void) | undefined;
  /** Absent at the last row. */
  readonly onNext?: (() => void) | undefined;
}) {
  const [chosen, setChosen] = useState(tabs[0]?.id ?? '');
  const tab = tabs.some(({ id }) => id === chosen) ? chosen : (tabs[0]?.id ?? '');
  useKeys({ j: () => onNext?.(), k: () => onPrevious?.() }, isOpen);
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      size="lg"
      title={
        <span className="fs-drawer-title">
          <Turn name="previous" icon="up" onTurn={onPrevious} />
          <Turn name="following" icon="down" onTurn={onNext} />
          <span className="fs-cut">{title}</span>
        </span>
      }
    >
      <Tabs value={tab} onChange={(id) => setChosen(id ?? '')} keepMounted={false}>
        <Tabs.List>
          {tabs.map(({ id, label }) => (
            <Tabs.Tab key={id} value={id}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map(({ id, content }) => (
          <Tabs.Panel key={id} value={id} pt={16}>
            {content()}
          </Tabs.Panel>
        ))}
      </Tabs>
    </Drawer>
  );
}

function Turn({
  name,
  icon,
  onTurn,
}: {
  readonly name: 'previous' | 'following';
  readonly icon: 'up' | 'down';
  readonly onTurn: (() => void) | undefined;
}) {
  return (
    <ActionIcon
      aria-label={TEXTS[name]}
      title={TEXTS[name]}
      disabled={onTurn === undefined}
      {...(onTurn === undefined ? {} : { onClick: onTurn })}
    >
      <Icon name={icon} />
    </ActionIcon>
  );
}
