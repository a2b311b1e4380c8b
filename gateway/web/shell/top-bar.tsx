// The top bar: where one is, the search, whether what is shown is live, and the account.
import { ActionIcon, Kbd, Menu, useMantineColorScheme } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { span } from '../../../machines/span.ts';
import { call } from '../api/client.ts';
import { reconnectNow, setPaused, useLiveStanding } from '../api/live.ts';
import { Icon } from '../design/icons.tsx';
import { Shape } from '../design/shape.tsx';
import { useNow } from '../design/time.tsx';
import { useSession } from '../session/session.ts';
import type { NavItem } from './nav.ts';
import { openSearch, Search } from './search.tsx';
import { SHELL_TEXTS } from './texts.ts';

export function TopBar({
  nav,
  onMenu,
}: {
  readonly nav: readonly NavItem[];
  readonly onMenu: () => void;
}) {
  return (
    <header className="fs-top">
      <div className="fs-top-left">
        <ActionIcon
          className="fs-menu-button"
          onClick={onMenu}
          aria-label={SHELL_TEXTS.openMenu}
          size="lg"
        >
          <Icon name="menu" />
        </ActionIcon>
        <Crumbs nav={nav} />
      </div>
      <button type="button" className="fs-search-button" onClick={openSearch}>
        <Icon name="search" size={14} />
        <span>{SHELL_TEXTS.search}</span>
        <Kbd size="xs">Ctrl K</Kbd>
      </button>
      <Search nav={nav} />
      <LivePill />
      <AccountMenu />
    </header>
  );
}

function Crumbs({ nav }: { readonly nav: readonly NavItem[] }) {
  const { pathname } = useLocation();
  const here = nav.find(({ to }) => to !== '/' && pathname.startsWith(`${to}/`));
  return here === undefined ? null : (
    <Link to={here.to} className="fs-cut">
      {here.label}
    </Link>
  );
}

function LivePill() {
  const standing = useLiveStanding();
  const nowMs = useNow();
  if (standing.is === 'idle') return null;
  if (standing.is === 'waiting') {
    return (
      <button
        type="button"
        className="fs-pill"
        title={SHELL_TEXTS.reconnectNow}
        onClick={reconnectNow}
      >
        <Shape tone="warn" />
        {SHELL_TEXTS.reconnecting(span(standing.retryAtMs - nowMs))}
      </button>
    );
  }
  const isPaused = standing.is === 'paused';
  const word = isPaused
    ? SHELL_TEXTS.paused
    : standing.is === 'open'
      ? SHELL_TEXTS.live
      : SHELL_TEXTS.opening;
  return (
    <button
      type="button"
      className="fs-pill"
      aria-pressed={isPaused}
      title={isPaused ? SHELL_TEXTS.resume : SHELL_TEXTS.pause}
      onClick={() => setPaused(!isPaused)}
    >
      <Shape tone={isPaused ? 'stale' : standing.is === 'open' ? 'good' : 'soon'} />
      {word}
    </button>
  );
}

function AccountMenu() {
  const session = useSession();
  const navigate = useNavigate();
  const cache = useQueryClient();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const logOut = async () => {
    await call('POST /auth/logout', {}).catch(() => undefined);
    setPaused(true);
    cache.clear();
    await navigate({ to: '/login' });
  };
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon aria-label={SHELL_TEXTS.account} size="lg">
          <Icon name="account" size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <span className="fs-break">{session.user.email}</span>, {session.user.role}
        </Menu.Label>
        <Menu.Item component={Link} to="/account">
          {SHELL_TEXTS.account}
        </Menu.Item>
        <Menu.Label>{SHELL_TEXTS.scheme}</Menu.Label>
        {(['auto', 'light', 'dark'] as const).map((scheme) => (
          <Menu.Item
            key={scheme}
            onClick={() => setColorScheme(scheme)}
            rightSection={colorScheme === scheme ? <Icon name="check" size={14} /> : null}
          >
            {SHELL_TEXTS.schemes[scheme]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => void logOut()}>{SHELL_TEXTS.logOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
