// The command line `service-console`: which commands there are, and how each ends. Data on stdout, talk on stderr.
import { Command, CommanderError } from 'commander';
import { COMMANDS } from '../commands.ts';
import { runStarter } from '../start/starters.ts';
import { addKeyCommands } from '../trust/key-commands.ts';
import { type CommandIo, type SharedOptions, withTimeout } from './command-run.ts';
import { runDoctor } from './doctor.ts';
import { CommandFailure, EXIT } from './exit.ts';
import { json } from './output.ts';
import { programVersion } from './program-version.ts';
import { plain } from './terminal.ts';

/** Runs one command line (without `node` and the script); resolves to the exit code, never rejects. */
export async function runProgram(argv: readonly string[], io: CommandIo): Promise<number> {
  let exitCode: number = EXIT.ok;
  try {
    const program = await programOf(io, (code) => {
      exitCode = code;
    });
    const hasCommand = argv.length > 0;
    await program.parseAsync(hasCommand ? argv : ['--help'], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return tellFailure(error, argv, io);
  }
}

async function programOf(io: CommandIo, setExitCode: (code: number) => void): Promise<Command> {
  const program = new Command('service-console');
  program
    .description('Fleet runtime security: run a Console, or operate one')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.terminal.out(text.trimEnd()),
      writeErr: (text) => io.terminal.talk(text.trimEnd()),
    })
    .showHelpAfterError('see: service-console --help');
  addStartCommands(program, setExitCode);
  for (const { addCommands } of await Promise.all(COMMANDS.map((load) => load()))) {
    addCommands(program, io);
  }
  withTimeout(program.command('doctor').description('check the way to the Console')).action(
    (_options: Pick<SharedOptions, 'timeout'>) => runDoctor(io),
  );
  program
    .command('version')
    .description('the version of this program')
    .option('--licenses', 'also the packages it runs, with their licences')
    .action(async ({ licenses = false }: { licenses?: boolean }) => {
      io.terminal.out(programVersion());
      if (!licenses) return;
      const { licenseText } = await import('../../../actors/runtime/third-party.ts');
      io.terminal.out(licenseText());
    });
  return inheritSettings(program);
}

/** What runs here, and not on a Console that is asked. */
function addStartCommands(program: Command, setExitCode: (code: number) => void): void {
  const start = async (
    name: Parameters<typeof runStarter>[0],
    options: object,
    { bind }: { readonly bind?: string } = {},
  ) => {
    // A word on the command line stands above the environment.
    if (bind !== undefined) process.env['SERVICE_CONSOLE_BIND'] = bind;
    const code = await runStarter(name, options);
    if (typeof code === 'number') setExitCode(code);
  };
  program
    .command('quickstart')
    .description('start a Console with embedded stores, and one local Sensor')
    .option('--no-sensor', 'leave the Sensor out')
    .option('--bind <address>', 'listen on this address alone, like 127.0.0.1')
    .option('--verbose', 'show the log of both programs')
    .action((options) => start('quickstart', options, options));
  program
    .command('serve')
    .description('start a Console from console.yaml and the environment')
    .option('--bind <address>', 'listen on this address alone, like 127.0.0.1')
    .action((options) => start('serve', options, options));
  program
    .command('migrate')
    .description('bring the stores to the newest schema')
    .option('--plan', 'only show what would be done')
    .action((options) => start('migrate', options));
  addKeyCommands(program, (options) => start('keys', options));
}

// Sub-commands do not take these over by themselves when they are added with command().
function inheritSettings(program: Command): Command {
  for (const command of program.commands) {
    command.copyInheritedSettings(program);
    inheritSettings(command);
  }
  return program;
}

function tellFailure(error: unknown, argv: readonly string[], io: CommandIo): number {
  if (!(error instanceof CommandFailure)) {
    io.terminal.talk(`error: ${plain(error instanceof Error ? error.message : error)}`);
    return EXIT.failed;
  }
  if (error.problem !== null && wantsJson(argv)) io.terminal.out(json(error.problem));
  const next = error.next === '' ? '' : `; ${error.next}`;
  io.terminal.talk(`error: ${plain(error.message)}${plain(next)}`);
  return error.exitCode;
}

function wantsJson(argv: readonly string[]): boolean {
  return argv.some((one, at) => {
    const value = /^(-o|--output=)(jsonl?)$/.test(one);
    return value || (/^(-o|--output)$/.test(one) && /^jsonl?$/.test(argv[at + 1] ?? ''));
  });
}
