// The entry of `service-console` under the bundled Node: joins the process (environment, terminal, Ctrl-C) to the
// program.
import { createInterface } from 'node:readline/promises';
import { askSecret } from './plumbing/hidden-input.ts';
import { runProgram } from './plumbing/program.ts';
import { processTerminal } from './plumbing/terminal.ts';

const INTERRUPTED = 130;
const STOP_GRACE_MS = 500;

// Programs that it starts keep what they compile in places of their own.
delete process.env.NODE_COMPILE_CACHE;

const argv = process.argv.slice(2);
const stop = new AbortController();
// Programs that run a Console stop in their own order; the others end at once.
const ownsSignals = new Set(['quickstart', 'serve']).has(argv[0] ?? '');
if (!ownsSignals) {
  process.once('SIGINT', () => {
    stop.abort();
    setTimeout(() => process.exit(INTERRUPTED), STOP_GRACE_MS).unref();
  });
}
// `... | head` closes the pipe early, which is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

const exitCode = await runProgram(argv, {
  env: process.env,
  terminal: processTerminal(process.env),
  now: Date.now,
  signal: stop.signal,
  async ask(question) {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await lines.question(question);
    } finally {
      lines.close();
    }
  },
  askSecret,
});
// While Node takes itself apart no handler is left, and one more signal, as the same key press that reached this process twice,
// would end it as one that was killed.
if (ownsSignals) process.exit(exitCode);
process.exitCode = exitCode;
