// `service-console loops` by example, against the real listener.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Listening,
  listenWithFixture,
} from '../../operator-plane/plumbing/listening.fixture.ts';
import { NOW_MS } from '../../operator-plane/plumbing/operator-plane.fixture.ts';
import { saveContext } from '../plumbing/context-file.ts';
import { EXIT } from '../plumbing/exit.ts';
import { runProgram } from '../plumbing/program.ts';

let live: Listening;
let home: string;

beforeAll(async () => {
  live = await listenWithFixture();
  home = mkdtempSync(join(tmpdir(), 'cli-loops-'));
  saveContext({ XDG_CONFIG_HOME: home }, 'local', {
    ...{ url: live.url, token: live.fixture.addKey(['admin']), ca_pem: live.caPem },
  });
});
afterAll(async () => {
  await live.close();
  rmSync(home, { recursive: true, force: true });
});

async function run(...argv: readonly string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runProgram(argv, {
    env: { XDG_CONFIG_HOME: home },
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
  return { code, out: out.join('\n'), err: err.join('\n') };
}

describe('loops', () => {
  it('should be listed, run and not found in words', async () => {
    const ran = await run('loops', 'run', 'access-sweep');
    expect(ran.code).toBe(EXIT.ok);
    expect(ran.out).toMatch(/^RESULT +done$/m);
    const list = await run('loops', 'list');
    expect(list.out).toMatch(/^NAME +RUNS ON +EVERY +STATE +LAST RUN +RESULT +NEXT RUN$/m);
    expect(list.out).toMatch(/^access-sweep +process +10 m +waiting +\S+ +done +\S+$/m);
    expect(list.out).toMatch(/^audit-sealer +designated +2 s /m);
    expect(list.err).toContain('This Console is designated');
    expect((await run('loops', 'run', 'nothing')).code).toBe(EXIT.notFound);
  });
});
