// `service-console loops` by example, against the real listener.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cli, openCli } from '../plumbing/cli.fixture.ts';
import { EXIT } from '../plumbing/exit.ts';

let cli: Cli;
beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());
const run = (...argv: readonly string[]) => cli.run(...argv);

describe('loops', () => {
  it('should be listed, run and not found in words', async () => {
    const ran = await run('loops', 'run', 'access-sweep');
    expect(ran.code).toBe(EXIT.ok);
    expect(ran.text).toMatch(/^RESULT +done$/m);
    const list = await run('loops', 'list');
    expect(list.text).toMatch(/^NAME +RUNS ON +EVERY +STATE +LAST RUN +RESULT +NEXT RUN$/m);
    expect(list.text).toMatch(/^access-sweep +process +10 m +waiting +\S+ +done +\S+$/m);
    expect(list.text).toMatch(/^audit-sealer +designated +2 s /m);
    expect(list.err).toContain('This Console is designated');
    expect((await run('loops', 'run', 'nothing')).code).toBe(EXIT.notFound);
  });
});
