// Runs one step of an exercise: a shell with the step's lines and its mark, in a folder of its own that is gone afterwards.
// decision: D146
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  EXERCISE_STEPS,
  exerciseStep,
  shellOfStep,
} from '../../../machines/detection/exercise-steps.ts';
import { EXERCISE_STEP_TIMEOUT_MS } from '../../../machines/limits.ts';

/** The library, a line each. */
export function listSteps(isJson: boolean): readonly string[] {
  if (isJson) return [JSON.stringify(EXERCISE_STEPS, null, 2)];
  const widest = Math.max(...EXERCISE_STEPS.map(({ step }) => step.length));
  return EXERCISE_STEPS.map(
    ({ step, technique, tactic, title }) =>
      `${step.padEnd(widest)}  ${technique.padEnd(9)}  ${tactic.padEnd(20)}  ${title}`,
  );
}

/** Runs it to its end. What it prints is thrown away, so that nothing that it read is left anywhere. */
export async function runStep(
  name: string,
): Promise<
  | { readonly ok: true; readonly text: string; readonly run: string }
  | { readonly ok: false; readonly reason: string }
> {
  const step = exerciseStep(name);
  if (step === undefined) return { ok: false, reason: `there is no step ${JSON.stringify(name)}` };
  const run = randomBytes(4).toString('hex');
  const folder = await mkdtemp(join(tmpdir(), 'exercise-'));
  try {
    await shell(shellOfStep(step, run), folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return { ok: true, run, text: `${step.step} (${step.technique}) was done, run ${run}` };
}

/** What a step's last command answers says nothing: what is missing on the node is passed over. */
function shell(words: readonly string[], folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', words, {
      cwd: folder,
      stdio: 'ignore',
      timeout: EXERCISE_STEP_TIMEOUT_MS,
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DIR: folder, LC_ALL: 'C' },
    });
    child.once('error', reject);
    child.once('close', () => resolve());
  });
}
