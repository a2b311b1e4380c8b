// A quick start that cannot be: each way is one sentence for a person with what to do, nothing goes on running, and no
// log is in the terminal. Disks and folders are of a mount namespace that ends with the program.
import { existsSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  eventually,
  type Home,
  makeHome,
  processesOf,
  removeHome,
  startCommand,
} from './programs.ts';

const START_MS = 120_000;
const STOP_MS = 3_000;
const PROGRAM = join(import.meta.dirname, '..', '..', 'gateway', 'cli', 'service-console.js');
const NODE = join(import.meta.dirname, '..', '..', 'node_modules', '.bin', 'node');
const isRoot = process.getuid?.() === 0;

let home: Home;
beforeAll(async () => {
  home = await makeHome();
});
afterAll(() => removeHome(home));

/** Runs a quick start to its end, after some shell that prepares its world. */
async function quickstart(prepare = ':', env: Readonly<Record<string, string>> = {}) {
  const script = `${prepare} && exec "${NODE}" "${PROGRAM}" quickstart --no-sensor`;
  const program = startCommand('unshare', ['-m', 'sh', '-c', script], {
    env: { ...home.env, ...env },
  });
  const code = await program.exited;
  const left = processesOf(home.folder).filter(({ pid }) => pid !== process.pid);
  expect(left, program.output()).toEqual([]);
  expect(program.output()).not.toMatch(/^\{/m);
  return { code, lines: program.output().trimEnd().split('\n') };
}

describe.runIf(isRoot)('a quick start that cannot be', () => {
  it('should name the setting of a port that is taken, before anything is started', async () => {
    const other = createServer().listen(home.port, '127.0.0.1');
    try {
      const { code, lines } = await quickstart();
      expect(code).toBe(1);
      expect(lines).toEqual([
        `error: the Console could not start: port ${home.port} is taken by another program; stop that one, or set SERVICE_CONSOLE_PORT (port in console.yaml) to a free one`,
      ]);
    } finally {
      other.close();
    }
  });

  it.each([25, 60])('should say how much room a disk of %s MB lacks', async (size) => {
    const { code, lines } = await quickstart(
      `mount -t tmpfs -o size=${size}m none "$SERVICE_CONSOLE_DATA_DIR"`,
    );
    expect(code).toBe(1);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/has \d+ MiB left, and the databases need 256 MiB; free some, or set/);
  });

  it('should name a folder that cannot be written', async () => {
    const { code, lines } = await quickstart(
      'mount -t tmpfs -o ro none "$SERVICE_CONSOLE_DATA_DIR"',
    );
    expect(code).toBe(1);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/console is on a read-only file system; make it writable, or set/);
  });

  it('should say what a read-only home needs', async () => {
    const { code, lines } = await quickstart(
      'mkdir -p "$HOME/ro" && mount -t tmpfs -o ro none "$HOME/ro"',
      { XDG_CONFIG_HOME: join(home.folder, 'ro') },
    );
    expect(code).toBe(1);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/read-only file system; set XDG_CONFIG_HOME to a folder/);
  });

  it(
    'should stop everything when it fails after the stores are up',
    async () => {
      // A context file that is a folder is found only when the key is to be kept.
      const { code, lines } = await quickstart(
        `mkdir -p "${join(home.folder, 'odd', 'service', 'config.yaml')}"`,
        { XDG_CONFIG_HOME: join(home.folder, 'odd') },
      );
      expect(code).not.toBe(0);
      expect(lines.at(-1)).toMatch(/^error: /);
    },
    START_MS,
  );
});

describe('Ctrl-C while it starts', () => {
  let own: Home;
  const made = (path: string) => existsSync(join(own.consoleDir, path));
  beforeEach(async () => {
    own = await makeHome();
  });
  afterEach(() => removeHome(own));

  /** Starts, ends as a terminal does it when the moment has come, and answers what was printed. */
  async function interrupted(isThere: () => boolean): Promise<string> {
    const program = startCommand(NODE, [PROGRAM, 'quickstart'], { env: own.env, group: true });
    await program.prints(/Starting the databases/, START_MS);
    await eventually('the moment', () => (isThere() ? true : null), START_MS);
    process.kill(-program.pid, 'SIGINT');
    expect(await program.exited).toBe(0);
    const gone = () => (processesOf(own.folder).length === 0 ? true : null);
    await eventually('everything has ended', gone);
    for (const row of program.output().split('\n')) expect(row.length, row).toBeLessThanOrEqual(80);
    expect(program.output()).not.toMatch(/error|^\{/m);
    return program.output();
  }

  it.each([
    ['before a database is made', () => true],
    ['while PostgreSQL is made', () => made('postgres/data.new') || made('postgres/data')],
    ['while PostgreSQL begins', () => made('postgres/data')],
    ['while ClickHouse begins', () => made('clickhouse')],
  ])(
    'should leave nothing running, and say what to do: %s',
    async (_, isThere) => {
      const said = await interrupted(isThere);
      expect(said).toMatch(/Nothing is left running;\nstart again, and it goes on from here\.$/m);
    },
    2 * START_MS,
  );

  it(
    'should go on with the same data at the next start, which shows the password',
    async () => {
      for (const file of ['postgres', 'postgres/data', 'clickhouse']) {
        await interrupted(() => made(file));
      }
      const program = startCommand(NODE, [PROGRAM, 'quickstart'], { env: own.env });
      await program.prints(/Ctrl-C stops everything/, START_MS);
      expect(program.output()).toMatch(/password/i);
      program.kill('SIGINT');
      expect(await program.exited).toBe(0);
    },
    3 * START_MS,
  );
});

describe('--bind', () => {
  it(
    'should listen on its address alone, and say so',
    async () => {
      const address = '127.0.0.77';
      const argv = [PROGRAM, 'quickstart', '--no-sensor', '--bind', address];
      const program = startCommand(NODE, argv, { env: home.env });
      await program.prints(/Ctrl-C stops everything/, START_MS);
      expect(program.output()).toContain(`${address}, port ${home.port} only`);
      expect(await answers(address, home.port)).toBe(true);
      expect(await answers('127.0.0.1', home.port)).toBe(false);
      const listed = startCommand(NODE, [PROGRAM, 'sensors', 'list'], { env: home.env });
      expect(await listed.exited, listed.output()).toBe(0);
      program.kill('SIGINT');
      expect(await program.exited).toBe(0);
    },
    START_MS,
  );
});

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

describe('Ctrl-C', () => {
  it(
    'should end within 3 seconds, and say so',
    async () => {
      const program = startCommand(NODE, [PROGRAM, 'quickstart'], { env: home.env });
      await program.prints(/Ctrl-C stops everything/, START_MS);
      program.kill('SIGINT');
      await program.prints(/^Stopped\.$/m, STOP_MS);
      // One key press reaches the program twice, by its group and by what started it: the second time may be this late.
      let isGone = false;
      void program.exited.then(() => {
        isGone = true;
      });
      while (!isGone) {
        program.kill('SIGINT');
        await nextTurn();
      }
      expect(await program.exited).toBe(0);
      expect(processesOf(home.folder)).toEqual([]);
      for (const row of program.output().split('\n'))
        expect(row.length, row).toBeLessThanOrEqual(80);
      expect(program.output()).not.toMatch(/^\{/m);
    },
    START_MS,
  );
});
