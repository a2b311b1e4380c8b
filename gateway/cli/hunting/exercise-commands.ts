// `service-console exercises ...`. Steps are done on nodes by hand: `service-sensor exercise run <step>`. decision: D146
import type { Command } from 'commander';
import type { ExerciseView, NewExercise } from '../../operator-plane/hunting/exercise-shapes.ts';
import {
  type CommandIo,
  clientOf,
  confirm,
  integerOf,
  type SharedOptions,
  tableOptions,
  withOutput,
  withTimeout,
} from '../plumbing/command-run.ts';
import { printList, printRecord, type View } from '../plumbing/output.ts';
import { plain } from '../plumbing/terminal.ts';

const PATH = '/api/v2/exercises';
const LIST_MAX = 1_000;
const WINDOW_MAX_S = 86_400;
type Timeout = Pick<SharedOptions, 'timeout'>;
type Result = ExerciseView['results'][number];
type Step = { step: string; title: string; technique: string; tactic: string };

const VIEW: View<ExerciseView> = {
  name: (one) => one.exercise_id,
  empty: 'No exercises. Plan one: service-console exercises create',
  columns: [
    { head: 'ID', read: (one) => one.exercise_id },
    { head: 'NAME', read: (one) => one.name },
    { head: 'STATE', read: (one) => one.state },
    { head: 'SEEN', read: (one) => `${one.seen}/${one.expected}` },
    { head: 'MEDIAN', read: ({ median_ms: ms }) => (ms === null ? '-' : `${ms / 1_000} s`) },
    { head: 'STARTED', read: (one) => one.started_at ?? '-' },
    { head: 'ENDS', read: (one) => one.ends_at ?? '-' },
    { head: 'STEPS', wide: true, read: ({ steps }) => steps.map(({ step }) => step).join(', ') },
  ],
};
const RESULTS: View<Result> = {
  name: (one) => one.step,
  empty: 'Nothing is known of it yet.',
  columns: [
    { head: 'STEP', read: (one) => one.step },
    { head: 'TECHNIQUE', read: (one) => one.technique ?? '-' },
    { head: 'SENSOR', read: (one) => one.sensor_id },
    { head: 'EXPECTED', read: (one) => [one.expected, one.expected_of ?? ''].join(' ').trim() },
    { head: 'SEEN', read: (one) => (one.is_seen ? 'yes' : (one.missed_because ?? 'no')) },
    {
      ...{ head: 'AFTER' },
      read: ({ detected_after_ms: ms }) => (ms === null ? '-' : `${ms / 1_000} s`),
    },
    { head: 'EVENTS', read: (one) => String(one.events) },
  ],
};
const STEPS: View<Step> = {
  name: (one) => one.step,
  empty: 'No steps.',
  columns: [
    { head: 'STEP', read: (one) => one.step },
    { head: 'TECHNIQUE', read: (one) => one.technique },
    { head: 'TACTIC', read: (one) => one.tactic },
    { head: 'WHAT', read: (one) => one.title },
  ],
};

/** Registers the commands. */
export function addCommands(program: Command, io: CommandIo): void {
  const group = program
    .command('exercises')
    .description('drills: how much of what was tried is seen');
  addReads(group, io);
  addCreate(group, io);
  for (const [act, description] of [
    ['start', 'begin its window now'],
    ['end', 'end its window now'],
    ['abandon', 'give it up'],
  ] as const) {
    withTimeout(group.command(act).description(description))
      .argument('<id>')
      .action(async (id: string, options: Timeout) => {
        const one = await clientOf(io, options).send<ExerciseView>(
          'POST',
          `${pathOf(id)}/${act}`,
          {},
        );
        io.terminal.talk(`${plain(one.name)} is ${one.state}.`);
        for (const { command } of one.state === 'running' ? one.steps : []) {
          io.terminal.talk(`  on each node: ${plain(command)}`);
        }
        io.terminal.out(one.exercise_id);
      });
  }
  withTimeout(group.command('delete').description('remove an exercise with its result'))
    .argument('<id>')
    .option('--yes', 'do not ask')
    .action(async (id: string, options: Timeout & { yes?: boolean }) => {
      const client = clientOf(io, options);
      const { name } = await client.get<ExerciseView>(pathOf(id));
      const what = `the exercise ${plain(name)} and its result go`;
      await confirm(io, { what, name, ...(options.yes === undefined ? {} : { yes: options.yes }) });
      await client.send('DELETE', pathOf(id));
      io.terminal.out(id);
    });
}

function addReads(group: Command, io: CommandIo): void {
  withOutput(group.command('list').alias('ls').description('list exercises')).action(
    async (options: SharedOptions) => {
      const shown = tableOptions(options);
      const found: ExerciseView[] = [];
      for await (const one of clientOf(io, options).all<ExerciseView>(PATH, {}, LIST_MAX)) {
        found.push(one);
      }
      printList(io.terminal, found, VIEW, shown);
    },
  );
  withOutput(group.command('get').description('one exercise'))
    .argument('<id>')
    .action(async (id: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      printRecord(
        io.terminal,
        await clientOf(io, options).get<ExerciseView>(pathOf(id)),
        VIEW,
        shown,
      );
    });
  withOutput(
    group.command('results').description('what was seen of each step, and what was missed'),
  )
    .argument('<id>')
    .action(async (id: string, options: SharedOptions) => {
      const shown = tableOptions(options);
      const { results } = await clientOf(io, options).get<ExerciseView>(pathOf(id));
      printList(io.terminal, results, RESULTS, shown);
    });
  withOutput(group.command('steps').description('the library of harmless steps')).action(
    async (options: SharedOptions) => {
      const shown = tableOptions(options);
      const { items } = await clientOf(io, options).get<{ items: readonly Step[] }>(
        `${PATH}/steps`,
      );
      printList(io.terminal, items, STEPS, shown);
    },
  );
}

function addCreate(group: Command, io: CommandIo): void {
  withOutput(group.command('create').description('plan an exercise'))
    .requiredOption('--name <text>', 'how people call it')
    .requiredOption('--sensor <id...>', 'the sensors on whose nodes steps are done')
    .requiredOption('--step <step...>', 'steps of the library; step=RULE-ID expects that rule')
    .option('--window <seconds>', 'how long it goes on', '1800')
    .action(
      async (
        options: SharedOptions & {
          readonly name: string;
          readonly sensor: readonly string[];
          readonly step: readonly string[];
          readonly window: string;
        },
      ) => {
        const shown = tableOptions(options);
        const body: NewExercise = {
          ...{ name: options.name, sensor_ids: [...options.sensor] },
          window_secs: integerOf(options.window, '--window', WINDOW_MAX_S),
          steps: options.step.map((one) => {
            const [step = '', rule] = one.split('=', 2);
            return rule === undefined ? { step } : { step, rule_id: rule };
          }),
        };
        const made = await clientOf(io, options).send<ExerciseView>('POST', PATH, body);
        printRecord(io.terminal, made, VIEW, shown);
      },
    );
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}
