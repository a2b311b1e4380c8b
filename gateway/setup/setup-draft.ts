// The answers of the first run. They are kept in a file of mode 600 beside the configuration, so that a crash between two
// steps loses none; when the configuration is written, license and administrator wait in it for the next start. The
// password itself is never kept. decision: D42; invariant: I11
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { stringify } from 'yaml';
import {
  SETUP_STEPS,
  type SetupStep,
  soundSteps,
} from '../../machines/console/settings/setup.rules.ts';
import { HAS_QUEUE_SINK } from '../config/settings.ts';

/** The steps that are asked for: a broker only where it can be used. */
export const OFFERED_STEPS: readonly SetupStep[] = SETUP_STEPS.filter(
  (step) => step !== 'broker' || HAS_QUEUE_SINK,
);
const Text = Type.String({ minLength: 1, maxLength: 4_096 });
const Draft = Type.Object(
  {
    version: Type.Literal(1),
    done: Type.Array(Type.Enum([...SETUP_STEPS])),
    /** As console.yaml has it. */
    configuration: Type.Object(
      {
        platform: Type.Optional(Type.Enum(['standard', 'telecom'])),
        base_url: Type.Optional(Text),
        database_url: Type.Optional(Text),
        clickhouse_url: Type.Optional(Text),
        redpanda_url: Type.Optional(Text),
        redis_url: Type.Optional(Text),
      },
      { additionalProperties: false },
    ),
    license: Type.Optional(Type.Unknown()),
    admin: Type.Optional(
      Type.Object(
        { email: Text, display_name: Type.String(), password_hash: Text },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
export type SetupDraft = Type.Static<typeof Draft>;
const check = Compile(Draft);

export const EMPTY_DRAFT: SetupDraft = { version: 1, done: [], configuration: {} };

/** What was kept; a file that cannot be understood is as good as none. */
export function readDraft(text: string | undefined): SetupDraft {
  if (text === undefined) return EMPTY_DRAFT;
  try {
    const value: unknown = JSON.parse(text);
    if (!check.Check(value)) return EMPTY_DRAFT;
    const claimed = value.done.filter((step) => step !== 'admin' || value.admin !== undefined);
    const draft = { ...value, done: [...soundSteps(claimed)] };
    return OFFERED_STEPS.includes('broker') ? draft : withoutStep(draft, 'broker');
  } catch {
    return EMPTY_DRAFT;
  }
}

/** The text of console.yaml. */
export function configurationText({ configuration }: SetupDraft): string {
  return `# Written by the setup. Everything that may stand here: gateway/README.md\n${stringify(configuration)}`;
}

/** The draft with a step answered. */
export function withStep(
  draft: SetupDraft,
  step: SetupStep,
  answers: Partial<SetupDraft>,
): SetupDraft {
  const done = SETUP_STEPS.filter((one) => one === step || draft.done.includes(one));
  return { ...draft, ...answers, done };
}

/** The draft without an optional step. */
export function withoutStep(draft: SetupDraft, step: 'broker' | 'redis' | 'license'): SetupDraft {
  const done = draft.done.filter((one) => one !== step);
  if (step === 'license') {
    const { license: _license, ...rest } = draft;
    return { ...rest, done };
  }
  const { redpanda_url: broker, redis_url: redis, ...configuration } = draft.configuration;
  const kept =
    step === 'broker'
      ? { ...(redis === undefined ? {} : { redis_url: redis }) }
      : { ...(broker === undefined ? {} : { redpanda_url: broker }) };
  return { ...draft, configuration: { ...configuration, ...kept }, done };
}
