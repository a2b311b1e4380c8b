// What the setup is answered with on the command line: from a file, or asked for on the terminal. Both end in the same
// answers, sent in the order in which the Console takes them.
import { readFile } from 'node:fs/promises';
import { cancel, isCancel, password, select, text } from '@clack/prompts';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { parse } from 'yaml';
import { mistakesOfFile } from '../../config/schema-mistakes.ts';
import { HAS_QUEUE_SINK } from '../../config/settings.ts';
import { CommandFailure, EXIT } from '../plumbing/exit.ts';

const Text = Type.String({ minLength: 1, maxLength: 4_096 });
const Answers = Type.Object(
  {
    platform: Type.Optional(Type.Enum(['standard', 'telecom'])),
    base_url: Type.Optional(Text),
    /** `embedded` or an address. */
    database: Type.Optional(Text),
    analytics: Type.Optional(Text),
    broker: Type.Optional(Text),
    redis: Type.Optional(Text),
    /** The bundle itself, or the path of its file. */
    license: Type.Optional(Type.Unknown()),
    admin: Type.Object(
      { email: Text, display_name: Type.Optional(Type.String()), password: Text },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);
export type SetupAnswers = Type.Static<typeof Answers>;
const check = Compile(Answers);

/** One request of the setup's API. */
export type SetupRequest = { readonly step: string; readonly body: unknown };

/** Reads answers from JSON or YAML; `base_url` and stores may be left out. */
export async function answersFrom(path: string): Promise<SetupAnswers> {
  let value: unknown;
  try {
    value = parse(await readFile(path, 'utf8'), { maxAliasCount: 10, logLevel: 'error' });
  } catch (error) {
    throw new CommandFailure(EXIT.usage, `${path}: ${firstLineOf(error)}`);
  }
  if (check.Check(value)) return withUsableBroker(value, path);
  const mistakes = mistakesOfFile(check.Errors(value));
  throw new CommandFailure(EXIT.usage, `${path} has mistakes:\n  ${mistakes.join('\n  ')}`);
}

function withUsableBroker(answers: SetupAnswers, path: string): SetupAnswers {
  if (answers.broker === undefined || HAS_QUEUE_SINK) return answers;
  const why = `${path}: broker: the queue sink is not available in this version`;
  throw new CommandFailure(EXIT.usage, why, 'leave it out');
}

/** Asks a person for everything. */
export async function askForAnswers(url: string): Promise<SetupAnswers> {
  const platform = await answered(
    select({
      message: 'What is watched?',
      options: [
        { value: 'standard' as const, label: 'Standard' },
        { value: 'telecom' as const, label: 'Telecom: 5G core and O-RAN as well' },
      ],
    }),
  );
  const ask = (message: string, initialValue: string) =>
    answered(text({ message, initialValue, defaultValue: initialValue }));
  const base_url = await ask('Where do sensors and people reach this Console?', url);
  const database = await ask('Relational database: embedded, or its address', 'embedded');
  const analytics = await ask('Analytics database: embedded, or its address', 'embedded');
  const broker = HAS_QUEUE_SINK ? await ask('Broker of a queue (empty: none)', '') : '';
  const redis = await ask('Redis (empty: none)', '');
  const license = await ask('Path of the license file (empty: later)', '');
  const email = await ask('E-mail address of the administrator', '');
  const display_name = await ask('Name of the administrator', '');
  const secret = await answered(password({ message: 'Password of the administrator' }));
  if ((await answered(password({ message: 'The password again' }))) !== secret) {
    throw new CommandFailure(EXIT.usage, 'the two passwords differ');
  }
  return {
    ...{ platform, base_url, database, analytics },
    ...(broker === '' ? {} : { broker }),
    ...(redis === '' ? {} : { redis }),
    ...(license === '' ? {} : { license }),
    admin: { email, display_name, password: secret },
  };
}

/** Asks for one line that is not shown. */
export async function askForCode(): Promise<string> {
  return answered(password({ message: 'The setup code that the Console printed' }));
}

/** The requests, in the order in which the Console takes them. */
export async function requestsOf(answers: SetupAnswers): Promise<readonly SetupRequest[]> {
  const { platform = 'standard', base_url, broker, redis, license, admin } = answers;
  const store = (step: 'database' | 'analytics'): SetupRequest => {
    const { [step]: url = 'embedded' } = answers;
    const body = url === 'embedded' ? { kind: 'embedded' } : { kind: 'external', url };
    return { step, body };
  };
  return [
    { step: 'platform', body: base_url === undefined ? { platform } : { platform, base_url } },
    store('database'),
    store('analytics'),
    ...(broker === undefined ? [] : [{ step: 'broker', body: { url: broker } }]),
    ...(redis === undefined ? [] : [{ step: 'redis', body: { url: redis } }]),
    ...(license === undefined ? [] : [{ step: 'license', body: await bundleOf(license) }]),
    { step: 'admin', body: admin },
  ];
}

async function bundleOf(license: unknown): Promise<unknown> {
  if (typeof license !== 'string') return license;
  try {
    return JSON.parse(await readFile(license, 'utf8')) as unknown;
  } catch (error) {
    throw new CommandFailure(EXIT.usage, `the license ${license}: ${firstLineOf(error)}`);
  }
}

async function answered<T>(asked: Promise<T>): Promise<Exclude<T, symbol>> {
  const value = await asked;
  if (typeof value !== 'symbol' && !isCancel(value)) return value as Exclude<T, symbol>;
  cancel('Nothing was written; what was answered so far is kept.');
  throw new CommandFailure(EXIT.failed, 'the setup was left');
}

function firstLineOf(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? '';
}
