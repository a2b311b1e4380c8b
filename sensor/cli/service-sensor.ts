// The commands of the Sensor. Data on standard output, talk on standard error; a token never in argv.
import { Command, CommanderError } from 'commander';
import { EXIT } from '../../machines/sensor/node.rules.ts';
import type { Flags, SensorCommand } from '../capability.ts';
import { loadConfig, type SensorConfig } from '../config/config.ts';
import { SENSOR_VERSION } from '../config/version.ts';
import { readToken } from './token.ts';

type Act = (flags: Flags, config: SensorConfig, words: readonly string[]) => Promise<number>;
/** Commands that are not of a capability; they are not made to load all of them. */
const OWN = new Set(['run', 'status', 'doctor', 'version']);

async function main(): Promise<number> {
  let exitCode: number = EXIT.ok;
  const act =
    (run: Act) =>
    async (...given: readonly unknown[]): Promise<void> => {
      // Arguments come first, then the flags and the command itself.
      const flags = given.at(-2) as Flags;
      const words = given.slice(0, -2).map(String);
      const loaded = await loadConfig(process.env, settingsOf(flags));
      if (loaded.ok) exitCode = await run(flags, loaded.config, words);
      else {
        for (const mistake of loaded.mistakes) process.stderr.write(`service-sensor: ${mistake}\n`);
        exitCode = EXIT.usage;
      }
    };
  const program = new Command('service-sensor')
    .description('Watches this node and reports to its Console.')
    .exitOverride()
    .showHelpAfterError();
  withTrust(program.command('run').description('collect and forward until stopped')).action(
    act(async (flags, config) => {
      const { runSensor } = await import('../main.ts');
      const reread = async () => {
        const loaded = await loadConfig(process.env, settingsOf(flags));
        return loaded.ok ? loaded.config : null;
      };
      return runSensor(config, () => readToken(tokenFileOf(flags), process.env), reread);
    }),
  );
  program
    .command('status')
    .description('what this Sensor knows of itself; works offline')
    .option('-o, --output <format>', 'table or json', 'table')
    .action(
      act(async (flags, config) => {
        const { runStatus } = await import('./status.ts');
        return runStatus(config, String(flags['output']));
      }),
    );
  const doctor = program.command('doctor');
  withTrust(doctor.description('look for what keeps this Sensor from working')).action(
    act(async (flags, config) => {
      const { runDoctor } = await import('./doctor.ts');
      const file = tokenFileOf(flags);
      const isGiven = file !== null || Boolean(process.env['SERVICE_SENSOR_TOKEN']);
      return runDoctor(config, () => readToken(file, process.env), isGiven);
    }),
  );
  program
    .command('version')
    .description('the version')
    .option('--licenses', 'also the packages it runs, with their licences')
    .action(async ({ licenses = false }: { licenses?: boolean }) => {
      process.stdout.write(`${SENSOR_VERSION}\n`);
      if (!licenses) return;
      const { licenseText } = await import('../../actors/runtime/third-party.ts');
      process.stdout.write(`${licenseText()}\n`);
    });
  if (!OWN.has(process.argv[2] ?? '')) {
    const { CAPABILITIES } = await import('../capabilities.ts');
    for (const { commands = [] } of CAPABILITIES) {
      for (const one of commands) addCommand(program, one, act);
    }
  }
  try {
    await program.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  return exitCode;
}

function addCommand(
  program: Command,
  { name, description, takesTrust, options = [], run }: SensorCommand,
  act: (run: Act) => (...given: readonly unknown[]) => Promise<void>,
): void {
  const command = program.command(name).description(description);
  if (takesTrust === true) withTrust(command);
  for (const option of options) command.option(...option);
  command.action(
    act((flags, config, words) =>
      run({ flags, config, words, readToken: () => readToken(tokenFileOf(flags), process.env) }),
    ),
  );
}

function withTrust(command: Command): Command {
  return command
    .option('--url <url>', 'address of the Console')
    .option('--token-file <file>', 'file that holds the token; - reads standard input')
    .option('--ca-fingerprint <sha256>', "fingerprint of the Console's CA")
    .option('--ca-file <file>', "the Console's CA as PEM");
}

function settingsOf(flags: Flags): Readonly<Record<string, unknown>> {
  const labels = Array.isArray(flags['label']) ? flags['label'] : undefined;
  return {
    console_url: flags['url'],
    ca_fingerprint: flags['caFingerprint'],
    ca_file: flags['caFile'],
    node_name: flags['nodeName'],
    flavor: flags['flavor'],
    declared_role: flags['declaredRole'],
    labels: labels && Object.fromEntries(labels.map((label) => splitOnce(label))),
  };
}

function splitOnce(label: string): [string, string] {
  const at = label.indexOf('=');
  return at === -1 ? [label, ''] : [label.slice(0, at), label.slice(at + 1)];
}

function tokenFileOf(flags: Flags): string | null {
  return typeof flags['tokenFile'] === 'string' ? flags['tokenFile'] : null;
}

const exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`service-sensor: ${error instanceof Error ? error.message : error}\n`);
  return EXIT.failed;
});
// Whatever still holds the event loop (a socket that is being opened, a pipe of the engine) does not outlive the stop.
process.exit(exitCode);
