// `service-console rollouts ...`: a version on its way to a target in stages. decision: D90
import type { Command } from 'commander';
import { ROLLOUT_GATES } from '../../../machines/console/policy/rollout.rules.ts';
import type {
  RolloutDetail,
  RolloutView,
  StartBody,
} from '../../operator-plane/policy/rollout-view.ts';
import type { Client } from '../plumbing/client.ts';
import {
  type CommandIo,
  clientOf,
  integerOf,
  type SharedOptions,
  tableOptions,
  watched,
  withOutput,
  withTimeout,
  withWatch,
} from '../plumbing/command-run.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';
import { findSensor } from '../plumbing/find-by-name.ts';
import { printList, printRecord, type View } from '../plumbing/output.ts';
import { age, plain } from '../plumbing/terminal.ts';
import { findPack, latestOf, targetOf } from './find-pack.ts';

const LIST_MAX = 10_000;
const VERSION_MAX = 1_000_000_000;
const PATH = '/api/v2/rollouts';
type Start = Pick<SharedOptions, 'timeout'> & {
  readonly to: string;
  readonly version?: string;
  readonly mode: string;
  readonly namespace?: readonly string[];
  readonly priority: string;
  readonly whenUnsupported: string;
  readonly canary: string;
  readonly waves: string;
  readonly wait: string;
  readonly ask?: boolean;
  readonly gate?: readonly string[];
  readonly onFailure: string;
};

const stageText = ({ stage, stages }: RolloutView) => {
  const now = stages[stage];
  const names = now?.sensor_ids.length ?? 0;
  const whom = `${now?.percent ?? 0} %${names === 0 ? '' : ` and ${names} named`}`;
  return `${stage + 1} of ${stages.length} (${whom})`;
};
const failedText = ({ failed }: RolloutView) =>
  failed === null ? '' : `${failed.gate} ${failed.counted} (at most ${failed.limit})`;
const targetText = ({ target }: RolloutView) =>
  target.kind === 'fleet' ? 'fleet' : `${target.kind}:${target.id}`;

const VIEW = (nowMs: number): View<RolloutView> => ({
  name: (one) => one.rollout_id,
  empty: 'No rollout. Begin one: service-console rollouts start <pack> --to fleet --canary 5%',
  columns: [
    { head: 'ROLLOUT', read: (one) => one.rollout_id },
    { head: 'TARGET', read: targetText },
    { head: 'PACK', read: (one) => one.pack_name },
    { head: 'VERSION', read: (one) => String(one.version) },
    { head: 'STATE', read: (one) => one.state },
    { head: 'STAGE', read: stageText },
    { head: 'FAILED GATE', read: failedText },
    { head: 'AGE', read: (one) => age(one.started_at, nowMs) },
    { head: 'BY', wide: true, read: (one) => one.started_by },
  ],
});
const ONE = (nowMs: number): View<RolloutDetail> => ({
  name: (one) => one.rollout_id,
  empty: '',
  columns: [
    ...VIEW(nowMs).columns,
    { head: 'RETURNS', read: (one) => (one.may_return ? 'as signed' : 'no: not signed') },
    {
      head: 'SENSORS',
      read: ({ counted: { reached, touched, in_force, unanswered, offline } }) =>
        `${reached} of ${touched} reached, ${in_force} in force, ${unanswered} unanswered, ${offline} offline`,
    },
    {
      head: 'GATES',
      read: ({ counted, gates }) =>
        ROLLOUT_GATES.map((gate) => {
          const limit = gates[gate];
          return `${gate} ${counted[gate]} (${limit === null ? 'not watched' : `at most ${limit}`})`;
        }),
    },
  ],
});

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const rollouts = program.command('rollouts').description('versions on their way to sensors');

  withWatch(withOutput(rollouts.command('list').description('rollouts, oldest first'))).action(
    async (options: SharedOptions) => {
      const shown = tableOptions(options);
      const client = clientOf(io, options);
      await watched(io, options, async () => {
        const rows: RolloutView[] = [];
        for await (const one of client.all<RolloutView>(PATH, {}, LIST_MAX)) rows.push(one);
        printList(io.terminal, rows, VIEW(io.now()), shown);
      });
    },
  );

  withWatch(
    withOutput(rollouts.command('get').description('one rollout, and what its gates count now')),
  )
    .argument('<rollout>', 'its id')
    .action(async (id: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      const client = clientOf(io, options);
      await watched(io, options, async () => {
        const one = await client.get<RolloutDetail>(`${PATH}/${encodeURIComponent(id)}`);
        printRecord(io.terminal, one, ONE(io.now()), shown);
      });
    });

  addStart(rollouts, io);
  const words = [
    ['pause', 'let no further sensor be reached'],
    ['resume', 'go on'],
    ['abort', 'end it; its sensors return where that was signed'],
  ] as const;
  for (const [word, description] of words) {
    withTimeout(rollouts.command(word).description(description))
      .argument('<rollout>', 'its id')
      .action(async (id: string, options: Pick<SharedOptions, 'timeout'>) => {
        const path = `${PATH}/${encodeURIComponent(id)}/${word}`;
        const one = await clientOf(io, options).send<RolloutView>('POST', path);
        io.terminal.talk(plain(`The rollout is ${one.state}.`));
        io.terminal.out(one.rollout_id);
      });
  }
}

function addStart(rollouts: Command, io: CommandIo): void {
  withTimeout(rollouts.command('start').description('bring a version to a target in stages'))
    .argument('<pack>', 'id or name')
    .requiredOption('--to <target>', 'sensor:NAME, group:NAME, tag:NAME or fleet')
    .option('--version <number>', 'the newest when absent')
    .option('--mode <mode>', 'enforce or monitor', 'monitor')
    .option('--namespace <name...>', 'only in these Kubernetes namespaces')
    .option('--priority <number>', 'among groups the higher one wins', '0')
    .option('--when-unsupported <what>', 'fail or skip what an engine cannot honour', 'fail')
    .option('--canary <who>', 'a percentage as 5%, or names of sensors with commas', '5%')
    .option('--waves <percentages>', 'as 25,50; all follow at the end', '25')
    .option('--wait <time>', 'how long each stage is watched: 30s, 10m, 2h', '10m')
    .option('--ask', 'wait for a word (resume) after every stage')
    .option('--gate <name=number...>', `how many are borne of ${ROLLOUT_GATES.join(', ')}`)
    .option('--on-failure <what>', 'return or halt', 'return')
    .action(async (asked: string, options: Start) => {
      const client = clientOf(io, options);
      const pack = await findPack(client, asked);
      const { version: text } = options;
      const made = await client.send<RolloutView>('POST', PATH, {
        target: await targetOf(client, options.to),
        pack_id: pack.pack_id,
        version: text === undefined ? latestOf(pack) : integerOf(text, '--version', VERSION_MAX),
        ...{ mode: options.mode, namespace_scope: options.namespace ?? null },
        ...{ priority: Number(options.priority), when_unsupported: options.whenUnsupported },
        stages: await stagesOf(client, options),
        gates: Object.fromEntries((options.gate ?? []).map(gateOf)),
        on_failure: options.onFailure,
      });
      const way = made.may_return ? '' : ' A return is not signed: it would halt instead.';
      io.terminal.talk(
        plain(`Version ${made.version} of ${made.pack_name} is on its way to ${options.to}.${way}`),
      );
      io.terminal.out(made.rollout_id);
    });
}

async function stagesOf(client: Client, options: Start): Promise<StartBody['stages']> {
  const shared = { wait_seconds: secondsOf(options.wait), needs_word: options.ask === true };
  const stages: StartBody['stages'] = [];
  if (/^\d+%$/.test(options.canary)) {
    stages.push({ percent: Number(options.canary.slice(0, -1)), ...shared });
  } else {
    const names = options.canary.split(',').filter((one) => one !== '');
    const found = await Promise.all(names.map((name) => findSensor(client, name)));
    stages.push({ percent: 0, sensor_ids: found.map((one) => one.sensor_id), ...shared });
  }
  const waves = options.waves.split(',').filter((one) => one !== '');
  for (const wave of waves) stages.push({ percent: integerOf(wave, '--waves', 99), ...shared });
  if (stages.at(-1)?.percent !== 100) stages.push({ percent: 100, ...shared, needs_word: false });
  return stages;
}

function secondsOf(text: string): number {
  const found = /^(\d+)([smhd]?)$/.exec(text);
  const unit = { s: 1, m: 60, h: 3_600, d: 86_400 }[found?.[2] ?? 's'] ?? 1;
  if (found !== null) return Number(found[1]) * unit;
  throw new CommandFailure(EXIT.usage, `--wait ${text} is no time`, '30s, 10m, 2h or 1d');
}

function gateOf(text: string): readonly [string, number | null] {
  const [gate = '', number = ''] = text.split('=');
  const isKnown = ROLLOUT_GATES.some((one) => one === gate);
  if (isKnown && number === 'off') return [gate, null];
  if (isKnown && /^\d+$/.test(number)) return [gate, Number(number)];
  throw new CommandFailure(
    EXIT.usage,
    `--gate ${text} is no gate`,
    `as rejected=0 or stale=off, of ${ROLLOUT_GATES.join(', ')}`,
  );
}
