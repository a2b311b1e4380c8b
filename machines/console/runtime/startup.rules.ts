// The ten steps before the Console serves, in the specification's order. invariant: I14
export const STARTUP_STEPS = [
  'configuration',
  'policy_signing_key',
  'relational_database',
  'license_trust_anchor',
  'analytics_and_sink',
  'routers',
  'sensor_tls_assets',
  'provisioning',
  'background_tasks',
  'listener',
] as const;
export type StartupStep = (typeof STARTUP_STEPS)[number];

/** What a step ended with: done, or passed because nothing is configured for it yet. */
export type StepOutcome = 'done' | 'not_configured';
export type StepRecord = { readonly step: StartupStep; readonly outcome: StepOutcome };

const REASON_MAX_CHARS = 1_000;

/** A failure as text for people: the message, cut, never a stack. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.slice(0, REASON_MAX_CHARS);
}
