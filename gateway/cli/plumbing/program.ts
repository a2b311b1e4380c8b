// The command line `service-console`: which commands there are, and how each ends. Data on stdout, talk on stderr.
import { Command, CommanderError } from 'commander';
import { addApiKeyCommands } from '../access/api-key-commands.ts';
import { addLoginCommands } from '../access/login-commands.ts';
import { addOwnAccountCommands } from '../access/own-account-commands.ts';
import { addSsoCommands } from '../access/sso-commands.ts';
import { addUserCommands } from '../access/user-commands.ts';
import { addWhoAmICommand } from '../access/whoami-command.ts';
import { addAuditCommands } from '../audit/audit-commands.ts';
import { addDeliveryCommands } from '../delivery/delivery-commands.ts';
import { addWebhookCommands } from '../delivery/webhook-commands.ts';
import { addAlertCommands } from '../detection/alert-commands.ts';
import { addRuleCommands } from '../detection/rule-commands.ts';
import { addDigestCommands } from '../digest/digest-commands.ts';
import { addExportCommands } from '../exports/export-commands.ts';
import { addLabelCommands } from '../fleet/label-commands.ts';
import { addSensorCommands } from '../fleet/sensor-commands.ts';
import { addHuntingCommands } from '../hunting/hunting-commands.ts';
import { addLicenseCommands } from '../license/license-commands.ts';
import { addAssignmentCommands } from '../policy/assignment-commands.ts';
import { addPackCommands } from '../policy/pack-commands.ts';
import { addLibraryCommand, addPolicyCommands } from '../policy/policy-commands.ts';
import { addRehearsalCommands } from '../policy/rehearsal-commands.ts';
import { addRolloutCommands } from '../policy/rollout-commands.ts';
import { addSettingsCommands } from '../settings/settings-commands.ts';
import { addSetupCommands } from '../settings/setup-commands.ts';
import { addSiemCommands } from '../siem/siem-commands.ts';
import { runStarter } from '../start/starters.ts';
import { addLoopCommands } from '../system/loop-commands.ts';
import { addEventCommands } from '../telemetry/event-commands.ts';
import { addKeyCommands } from '../trust/key-commands.ts';
import { addTokenCommands } from '../trust/token-commands.ts';
import { type CommandIo, type SharedOptions, withTimeout } from './command-run.ts';
import { runDoctor } from './doctor.ts';
import { CommandFailure, EXIT } from './exit.ts';
import { json } from './output.ts';
import { programVersion } from './program-version.ts';
import { plain } from './terminal.ts';

/** Runs one command line (without `node` and the script); resolves to the exit code, never rejects. */
export async function runProgram(argv: readonly string[], io: CommandIo): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = programOf(io, (code) => {
    exitCode = code;
  });
  try {
    const hasCommand = argv.length > 0;
    await program.parseAsync(hasCommand ? argv : ['--help'], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return tellFailure(error, argv, io);
  }
}

function programOf(io: CommandIo, setExitCode: (code: number) => void): Command {
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
  addAlertCommands(program, io);
  addRuleCommands(program, io);
  addSensorCommands(program, io);
  addLabelCommands(program, io);
  addTokenCommands(program, io);
  addUserCommands(program, io);
  addLoginCommands(program, io);
  addWhoAmICommand(program, io);
  addOwnAccountCommands(program, io);
  addApiKeyCommands(program, io);
  addEventCommands(program, io);
  addHuntingCommands(program, io);
  addAuditCommands(program, io);
  addLicenseCommands(program, io);
  addSsoCommands(program, io);
  addWebhookCommands(program, io);
  addDigestCommands(program, io);
  addExportCommands(program, io);
  addDeliveryCommands(program, io);
  addSiemCommands(program, io);
  addPackCommands(program, io);
  addAssignmentCommands(program, io);
  addRehearsalCommands(program, io);
  addRolloutCommands(program, io);
  addPolicyCommands(program, io);
  addLibraryCommand(program, io);
  addSettingsCommands(program, io);
  addSetupCommands(program, io);
  addLoopCommands(program, io);
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
