// What every command gets: environment, terminal, a way to be stopped; and the options that commands share.
import { type Command, Option } from 'commander';
import { COMMAND_TIMEOUT_MS, COMMAND_WATCH_INTERVAL_MS } from '../../../machines/limits.ts';
import { type Client, createClient } from './client.ts';
import { type Env, resolveConnection } from './context-file.ts';
import { CommandFailure, EXIT } from './exit.ts';
import { FORMATS, type Format, formatOf } from './output.ts';
import { plain, type Terminal } from './terminal.ts';

export type CommandIo = {
  readonly env: Env;
  readonly terminal: Terminal;
  readonly now: () => number;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Asks on the terminal; only called when it is interactive. */
  readonly ask: (question: string) => Promise<string>;
  /** Asks without showing the answer; without a terminal, the next line of standard input. */
  readonly askSecret?: (question: string) => Promise<string>;
};

export type SharedOptions = {
  readonly output: string;
  readonly headers: boolean;
  readonly watch?: boolean;
  readonly timeout: string;
};

/** The group of commands that another file made, which stands above in `commands.ts`. */
export function groupOf(program: Command, name: string): Command {
  const group = program.commands.find((one) => one.name() === name);
  if (group === undefined) throw new Error(`no file above makes the commands of ${name}`);
  return group;
}

/** Adds `-o`, `--no-headers`, `--timeout`. */
export function withOutput(command: Command, formats: readonly string[] = FORMATS): Command {
  return withTimeout(command)
    .option('-o, --output <format>', formats.join('|'), formats[0])
    .option('--no-headers', 'leave the head line of a table out');
}

/** Adds `--watch` to a list. */
export function withWatch(command: Command): Command {
  return command.option('-w, --watch', 'show again every two seconds');
}

export function withTimeout(command: Command): Command {
  return command.addOption(
    new Option('--timeout <seconds>', 'give up after this time').default(
      String(COMMAND_TIMEOUT_MS / 1_000),
    ),
  );
}

/** A client for the current context. */
export function clientOf(io: CommandIo, options: Pick<SharedOptions, 'timeout'>): Client {
  const warn = (text: string) => talkOnce(io, text, `warning: ${text}`);
  return createClient(resolveConnection(io.env), timeoutOf(options), warn);
}

const told = new WeakMap<CommandIo, Set<string>>();

/** Says a line, unless this command has said the same before, maybe in other words. */
export function talkOnce(io: CommandIo, about: string, line: string): void {
  const before = told.get(io) ?? new Set<string>();
  told.set(io, before);
  if (before.has(about)) return;
  before.add(about);
  io.terminal.talk(plain(line));
}

/** How long one request may take. */
export function timeoutOf(options: Pick<SharedOptions, 'timeout'>): number {
  return secondsOf(options.timeout) * 1_000;
}

export function tableOptions(options: SharedOptions): { format: Format; headers: boolean } {
  return { format: formatOf(options.output, FORMATS), headers: options.headers };
}

/** Runs once, or again and again until stopped. */
export async function watched(
  io: CommandIo,
  options: Pick<SharedOptions, 'watch'>,
  show: () => Promise<void>,
): Promise<void> {
  await show();
  while (options.watch === true && !io.signal.aborted) {
    await pause(COMMAND_WATCH_INTERVAL_MS, io.signal);
    if (io.signal.aborted) return;
    if (io.terminal.isInteractive) io.terminal.out('\u001b[2J\u001b[H');
    await show();
  }
}

/** Waits, or returns early when stopped. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}

/** Asks for the name of what is about to change; `--yes` answers beforehand. */
export async function confirm(
  io: CommandIo,
  options: { readonly yes?: boolean; readonly what: string; readonly name: string },
): Promise<void> {
  if (options.yes === true) return;
  if (!io.terminal.isInteractive) {
    throw new CommandFailure(EXIT.usage, `${options.what} needs a yes`, 'add --yes');
  }
  const answer = await io.ask(`${options.what}. Type ${options.name} to go on: `);
  if (answer.trim() !== options.name) throw new CommandFailure(EXIT.usage, 'nothing was changed');
}

/** A number of an option. */
export function integerOf(text: string, name: string, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0 && value <= max) return value;
  throw new CommandFailure(EXIT.usage, `${name} must be a whole number from 1 to ${max}`);
}

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new CommandFailure(EXIT.usage, '--timeout must be a number of seconds');
}
