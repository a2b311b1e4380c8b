// The Console's start: ten steps in the specification's order, each an invoked actor with a deadline. A step that fails
// or takes too long ends in `failed` with its name and reason; the listener is the last step, so the port is bound only
// after all others passed. decision: D4; invariant: I14
//   configuration ... listener   the step runs; its outcome is noted
//   serving                      every step passed
//   failed                       names the step and the reason; nothing is bound
import { type ActorRefFrom, assign, type DoneActorEvent, type SnapshotFrom, setup } from 'xstate';
import { STARTUP_STEP_TIMEOUT_MS } from '../../limits.ts';
import { unprovidedActor } from '../../unprovided.ts';
import { reasonOf, type StartupStep, type StepOutcome, type StepRecord } from './startup.rules.ts';

type StartupContext = {
  readonly steps: readonly StepRecord[];
  readonly failedStep: StartupStep | null;
  readonly reason: string | null;
};
type StepInput = { readonly step: StartupStep };

const machine = setup({
  types: { context: {} as StartupContext },
  delays: { stepTimeoutMs: STARTUP_STEP_TIMEOUT_MS },
  actors: { runStep: unprovidedActor<StepOutcome, StepInput>('runStep') },
  actions: {
    noteStep: assign({
      steps: ({ context }, params: StepRecord) => [...context.steps, params],
    }),
    noteFailure: assign((_, params: { step: StartupStep; error: unknown }) => ({
      failedStep: params.step,
      reason: reasonOf(params.error),
    })),
  },
});

// Every step has the same shape, so it is written once and named ten times.
function stepState<const Next extends string>(step: StartupStep, description: string, next: Next) {
  return machine.createStateConfig({
    description,
    invoke: {
      id: step,
      src: 'runStep',
      input: { step },
      onDone: {
        target: next,
        actions: {
          type: 'noteStep',
          params: ({ event }: { event: DoneActorEvent<StepOutcome> }) => ({
            step,
            outcome: event.output,
          }),
        },
      },
      onError: {
        target: 'failed',
        actions: {
          type: 'noteFailure',
          params: ({ event }: { event: { error: unknown } }) => ({ step, error: event.error }),
        },
      },
    },
    after: {
      stepTimeoutMs: {
        target: 'failed',
        actions: { type: 'noteFailure', params: { step, error: 'the step took too long' } },
      },
    },
  });
}

export const startupMachine = machine.createMachine({
  id: 'startup',
  context: { steps: [], failedStep: null, reason: null },
  initial: 'configuration',
  states: {
    configuration: stepState('configuration', 'Load the configuration.', 'policy_signing_key'),
    policy_signing_key: stepState(
      'policy_signing_key',
      'Load or make the Ed25519 policy-signing key.',
      'relational_database',
    ),
    relational_database: stepState(
      'relational_database',
      'Open the relational pool and run its migrations.',
      'license_trust_anchor',
    ),
    license_trust_anchor: stepState(
      'license_trust_anchor',
      'Load the license verification trust anchor.',
      'analytics_and_sink',
    ),
    analytics_and_sink: stepState(
      'analytics_and_sink',
      'Open the analytics client, the rate limiter and the event sink.',
      'routers',
    ),
    routers: stepState('routers', 'Build the sensor and operator routers.', 'sensor_tls_assets'),
    sensor_tls_assets: stepState(
      'sensor_tls_assets',
      'Validate or make the sensor TLS assets.',
      'provisioning',
    ),
    provisioning: stepState(
      'provisioning',
      'Provision what is absent; idempotent.',
      'background_tasks',
    ),
    background_tasks: stepState('background_tasks', 'Start the background loops.', 'listener'),
    listener: stepState('listener', 'Bind the one TLS port.', 'serving'),
    serving: { type: 'final', description: 'Every step passed; the port is bound.' },
    failed: {
      type: 'final',
      description: 'A step failed; its name and reason are in the context.',
    },
  },
});

export type StartupActorRef = ActorRefFrom<typeof startupMachine>;
export type StartupSnapshot = SnapshotFrom<typeof startupMachine>;
