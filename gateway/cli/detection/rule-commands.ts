// `service-console rules ...`: what is looked for in events, kept in files, tried before it is applied.
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type {
  AlertRule,
  AlertRuleWithVersions,
  Backtest,
} from '../../operator-plane/detection/rule-shapes.ts';
import {
  type CommandIo,
  clientOf,
  type SharedOptions,
  tableOptions,
  withOutput,
  withTimeout,
} from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { printList, printRecord, type View } from '../plumbing/output.ts';
import { plain } from '../plumbing/terminal.ts';
import { faultsOfExamples, type RuleFile, readRuleFile, readRuleLibrary } from './rule-library.ts';
import { rulesOfSigma } from './sigma-file.ts';

const PATH = '/api/v2/alert-rules';
type Timeout = Pick<SharedOptions, 'timeout'>;
type FileOption = { readonly file: string };

const LIST: View<AlertRule> = {
  name: (one) => one.rule_id,
  empty: 'No rules. Apply the starter rules: service-console rules apply --library',
  columns: [
    { head: 'ID', read: (one) => one.rule_id },
    { head: 'NAME', read: (one) => one.spec.rule_name },
    { head: 'SEVERITY', read: (one) => one.spec.severity },
    { head: 'KIND', read: (one) => one.spec.detect.kind },
    { head: 'STATE', read: stateOf },
    { head: 'LIVE', read: (one) => String(one.live_alerts) },
    { head: 'VERSION', wide: true, read: (one) => String(one.version) },
    { head: 'NS/EVENT', wide: true, read: (one) => one.cost?.ns_per_event.toFixed(0) ?? '-' },
    { head: 'BY', wide: true, read: (one) => one.changed_by },
  ],
};
const ONE: View<AlertRuleWithVersions> = {
  name: ({ rule }) => rule.rule_id,
  empty: 'No rule.',
  columns: [
    ...LIST.columns.map(({ head, read }) => ({
      head,
      read: ({ rule }: AlertRuleWithVersions) => read(rule),
    })),
    { head: 'DETECT', read: ({ rule }) => JSON.stringify(rule.spec.detect) },
    {
      head: 'VERSIONS',
      read: ({ versions }) => versions.map((one) => `${one.version} ${one.at} ${one.actor}`),
    },
  ],
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const rules = program.command('rules').description('alert rules');
  withOutput(rules.command('list').alias('ls').description('every rule')).action(
    async (options: SharedOptions) => {
      const shown = tableOptions(options);
      const { items } = await clientOf(io, options).get<{ items: readonly AlertRule[] }>(PATH);
      printList(io.terminal, items, LIST, shown);
    },
  );
  withOutput(rules.command('get').description('one rule with its versions'))
    .argument('<rule-id>')
    .action(async (id: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      const one = await clientOf(io, options).get<AlertRuleWithVersions>(pathOf(id));
      printRecord(io.terminal, one, ONE, shown);
    });
  withTimeout(rules.command('remove').alias('rm').description('remove a rule; its alerts stay'))
    .argument('<rule-id>')
    .action(async (id: string, options: Timeout) => {
      await clientOf(io, options).send('DELETE', pathOf(id));
      io.terminal.talk(`Rule ${plain(id)} is removed.`);
    });
  addFileCommands(rules, io);
  addImportCommand(rules, io);
}

function addFileCommands(rules: Command, io: CommandIo): void {
  withTimeout(rules.command('apply').description('add or change rules from a file'))
    .option('-f, --file <file>', 'YAML or JSON with rule_id and spec')
    .option('--library', 'the starter rules')
    .action(async (options: Timeout & { readonly file?: string; readonly library?: boolean }) => {
      const files = options.library ? await library() : [await fileAt(options.file)];
      for (const file of files) await apply(io, file, options);
    });
  rules
    .command('test')
    .description('check a file, and that its examples hold; asks no Console')
    .requiredOption('-f, --file <file>', 'YAML or JSON with rule_id, spec, triggers and never')
    .action(async ({ file }: FileOption) => {
      const faults = faultsOfExamples(await fileAt(file));
      if (faults.length > 0) throw new CommandFailure(EXIT.failed, faults.join('; '));
      io.terminal.talk('The rule can be read, and its examples hold.');
    });
  withOutput(rules.command('backtest').description('try a file on stored events; tells nobody'))
    .requiredOption('-f, --file <file>', 'YAML or JSON with rule_id and spec')
    .option('--since <time>', 'from when, such as 1d', '1d')
    .action(async (options: SharedOptions & FileOption & { readonly since: string }) => {
      const shown = tableOptions(options);
      const { spec } = await fileAt(options.file);
      const asked = { spec, from: `now-${options.since}` };
      const result = await clientOf(io, options).send<Backtest>('POST', `${PATH}/backtest`, asked);
      printRecord(io.terminal, result, BACKTEST, shown);
    });
}

const BACKTEST: View<Backtest> = {
  name: (one) => String(one.findings),
  empty: 'Nothing.',
  columns: [
    { head: 'FROM', read: (one) => one.from },
    { head: 'TO', read: (one) => one.to },
    { head: 'FINDINGS', read: (one) => String(one.findings) },
    { head: 'ALERTS', read: (one) => String(one.alerts) },
    { head: 'SENSORS', read: (one) => String(one.sensors.length) },
    { head: 'EVENTS', read: (one) => `${one.matched_events} of ${one.judged_events}` },
    { head: 'WHOLE', read: (one) => (one.is_truncated ? 'no, too many events' : 'yes') },
    { head: 'TOOK', read: (one) => `${one.took_ms.toFixed(0)} ms` },
    { head: 'SAMPLES', read: ({ samples }) => samples.map(({ event }) => event.message) },
  ],
};

function addImportCommand(rules: Command, io: CommandIo): void {
  withTimeout(rules.command('import').description('add a rule of Sigma: the parts that are known'))
    .requiredOption('-f, --file <file>', 'a rule of Sigma, YAML')
    .option('--dry-run', 'only show what it becomes')
    .action(async (options: Timeout & FileOption & { readonly dryRun?: boolean }) => {
      const read = rulesOfSigma(await textAt(options.file));
      if (!read.ok) {
        const said = read.refusals.map(({ line, reason }) => `line ${line}: ${reason}`);
        throw new CommandFailure(EXIT.failed, plain(said.join('; ')));
      }
      const { ruleId, spec } = read;
      if (options.dryRun === true)
        io.terminal.out(JSON.stringify({ rule_id: ruleId, spec }, null, 2));
      else await apply(io, { ruleId, spec, triggers: [], never: [] }, options);
    });
}

async function apply(io: CommandIo, { ruleId, spec }: RuleFile, options: Timeout): Promise<void> {
  const client = clientOf(io, options);
  const { items } = await client.get<{ items: readonly AlertRule[] }>(PATH);
  const known = items.find((one) => one.rule_id === ruleId);
  const made =
    known === undefined
      ? await client.send<AlertRule>('POST', PATH, { rule_id: ruleId, spec })
      : await client.send<AlertRule>('PUT', pathOf(ruleId), { spec, version: known.version });
  io.terminal.talk(`${plain(made.spec.rule_name)}: version ${made.version}.`);
  io.terminal.out(made.rule_id);
}

async function library(): Promise<readonly RuleFile[]> {
  return (await readRuleLibrary()).flatMap((one) => (one.ok ? [one.file] : []));
}

async function fileAt(path: string | undefined): Promise<RuleFile> {
  if (path === undefined) throw new CommandFailure(EXIT.usage, 'name a file, or --library');
  const read = readRuleFile(await textAt(path));
  if (!read.ok) throw new CommandFailure(EXIT.failed, plain(read.faults.join('; ')));
  return read.file;
}

async function textAt(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    throw new CommandFailure(EXIT.usage, `${plain(path)} cannot be read`);
  }
}

function stateOf(one: AlertRule): string {
  if (one.pause !== null) return `paused: ${one.pause.reason}`;
  return one.spec.enabled === false ? 'off' : 'on';
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}
