// The frame around every page: navigation at the left, the top bar, the zone of times at the foot.
import { Drawer } from '@mantine/core';
import { Link, Outlet } from '@tanstack/react-router';
import { useState } from 'react';
import { Icon } from '../design/icons.tsx';
import { ZONE } from '../design/time.tsx';
import { FreshDialog } from '../session/fresh-dialog.tsx';
import { LastLoginNotice } from '../session/last-login.tsx';
import { LicenseNotice } from './license-notice.tsx';
import { FOOT_FROM, type NavItem, useNav } from './nav.ts';
import { useShortcuts } from './shortcuts.ts';
import { SHELL_TEXTS } from './texts.ts';
import { TopBar } from './top-bar.tsx';

export function Shell() {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const nav = useNav();
  useShortcuts(nav);
  return (
    <div className="fs-shell">
      <a className="fs-skip" href="#content">
        {SHELL_TEXTS.skip}
      </a>
      <nav className="fs-nav" aria-label={SHELL_TEXTS.navigation}>
        <NavList nav={nav} />
      </nav>
      <Drawer
        opened={isMenuOpen}
        onClose={() => setMenuOpen(false)}
        position="left"
        size={260}
        title={SHELL_TEXTS.product}
      >
        <nav aria-label={SHELL_TEXTS.navigation}>
          <NavList nav={nav} onGo={() => setMenuOpen(false)} isWide />
        </nav>
      </Drawer>
      <TopBar nav={nav} onMenu={() => setMenuOpen(true)} />
      <FreshDialog />
      <main className="fs-main" id="content" tabIndex={-1}>
        <LicenseNotice />
        <LastLoginNotice />
        <Outlet />
        <footer className="fs-foot fs-meta">
          {SHELL_TEXTS.zone} {ZONE}
        </footer>
      </main>
    </div>
  );
}

function NavList({
  nav,
  onGo,
  isWide = false,
}: {
  readonly nav: readonly NavItem[];
  readonly onGo?: () => void;
  readonly isWide?: boolean;
}) {
  return (
    <>
      <div className={`fs-brand ${isWide ? 'fs-wide' : ''}`}>
        <Icon name="coverage" />
        <span className="fs-nav-word">{SHELL_TEXTS.product}</span>
      </div>
      <ul className={`fs-nav-list ${isWide ? 'fs-wide' : ''}`}>
        {nav.map(({ to, label, icon, order }, index) => {
          const isFirstOfFoot = order >= FOOT_FROM && (nav[index - 1]?.order ?? 0) < FOOT_FROM;
          return (
            <li key={to} className={isFirstOfFoot ? 'fs-nav-foot' : ''}>
              <Link
                to={to}
                activeOptions={{ exact: to === '/' }}
                className="fs-nav-link"
                title={label}
                {...(onGo === undefined ? {} : { onClick: onGo })}
              >
                <Icon name={icon} />
                <span className="fs-nav-word">{label}</span>
              </Link>
            </li>
          );
        })}
      </ul>
    </>
  );
}
