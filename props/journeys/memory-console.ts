// The Console over memory behind its own listener, with the page in a browser: for what a whole Console with its databases
// would only make slower, like rows that somebody changed in a store.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import {
  type Listening,
  listenWithFixture,
} from '../../gateway/operator-plane/plumbing/listening.fixture.ts';
import type { FixtureOptions } from '../../gateway/operator-plane/plumbing/operator-plane.fixture.ts';
import { findPage } from '../../gateway/page/find-page.ts';
import type { Role } from '../../machines/trust/roles.rules.ts';
import { openWindow, type Watched } from './browser.ts';

export type MemoryConsole = Listening & {
  /** A window of somebody with this role, logged in. */
  readonly windowOf: (browser: Browser, role: Role, width?: number) => Promise<Watched>;
};

/** Starts it with the page and the time of now, which stands still. */
export async function openMemoryConsole(more: FixtureOptions = {}): Promise<MemoryConsole> {
  const dataDir = mkdtempSync(join(tmpdir(), 'page-'));
  const page = await findPage({ dataDir, tell: () => undefined });
  if (page === null) throw new Error('there is no page: npm run build:web');
  const live = await listenWithFixture({ ...more, ports: { page, ...more.ports } });
  const { fixture, url } = live;
  fixture.state.nowMs = Date.now();
  return {
    ...live,
    async windowOf(browser, role, width) {
      const { cookie } = fixture.addSession(fixture.addUser(role));
      const window = await openWindow(browser, url, width);
      const [name = '', value = ''] = cookie.split('=', 2);
      await window.context.addCookies([
        { name, value, url, secure: true, httpOnly: true, sameSite: 'Strict' },
      ]);
      return window;
    },
    async close() {
      await live.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
