// The steps of the first run. The platform comes first, since everything else belongs to it; then the stores, then the one
// person who can let others in. Broker, Redis and license may be given at any time after the platform, or never. A step
// that was done may be done again; the setup can be finished once every needed step is done. decision: D42
export const SETUP_STEPS = [
  'platform',
  'database',
  'analytics',
  'broker',
  'redis',
  'license',
  'admin',
] as const;
export type SetupStep = (typeof SETUP_STEPS)[number];

/** In the order in which they are asked for. */
export const NEEDED_STEPS = ['platform', 'database', 'analytics', 'admin'] as const;
export type NeededStep = (typeof NEEDED_STEPS)[number];

/** The first needed step that is not done; null when none is left. */
export function nextStep(done: readonly SetupStep[]): NeededStep | null {
  return NEEDED_STEPS.find((step) => !done.includes(step)) ?? null;
}

/** Whether a step can be done now. */
export function mayDo(step: SetupStep, done: readonly SetupStep[]): boolean {
  if (step === 'platform') return true;
  if (!done.includes('platform')) return false;
  return step !== 'analytics' || done.includes('database');
}

/** Whether a step that was done can be taken back: only what is not needed. */
export function mayUndo(step: SetupStep): boolean {
  return !(NEEDED_STEPS as readonly SetupStep[]).includes(step);
}

/** Which steps of those that somebody says were done may stand together, in the order of steps. */
export function soundSteps(claimed: readonly SetupStep[]): readonly SetupStep[] {
  const sound: SetupStep[] = [];
  for (const step of SETUP_STEPS) {
    if (claimed.includes(step) && mayDo(step, sound)) sound.push(step);
  }
  return sound;
}
