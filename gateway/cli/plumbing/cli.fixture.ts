// The commands against a Console over memory behind its real listener, as an admin who logged in on this machine.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import {
  type Listening,
  listenWithFixture,
} from '../../operator-plane/plumbing/listening.fixture.ts';
import {
  type FixtureOptions,
  NOW_MS,
} from '../../operator-plane/plumbing/operator-plane.fixture.ts';
import { saveContext } from './context-file.ts';
import { runProgram } from './program.ts';

/** What a command said, line by line, and how it ended. */
export type Said = {
  readonly code: number;
  readonly out: readonly string[];
  readonly text: string;
  readonly err: string;
};
export type Cli = Awaited<ReturnType<typeof openCli>>;

/** Starts it; `run` runs one command outside of a terminal. */
export async function openCli(more: FixtureOptions = {}) {
  const live: Listening = await listenWithFixture(more);
  const home = mkdtempSync(join(tmpdir(), 'cli-'));
  const env = { XDG_CONFIG_HOME: home };
  saveContext(env, 'local', {
    ...{ url: live.url, token: live.fixture.addKey(['admin']), ca_pem: live.caPem },
  });
  return {
    live,
    /** A folder of its own, for files that commands read. */
    home,
    async run(...argv: readonly string[]): Promise<Said> {
      const [out, err]: [string[], string[]] = [[], []];
      const code = await runProgram(argv, {
        env,
        terminal: {
          out: (text) => void out.push(text),
          talk: (text) => void err.push(text),
          isInteractive: false,
          colors: pc.createColors(false),
        },
        now: () => NOW_MS + 90_000,
        signal: new AbortController().signal,
        ask: async () => '',
      });
      return { code, out, text: out.join('\n'), err: err.join('\n') };
    },
    async close(): Promise<void> {
      await live.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
