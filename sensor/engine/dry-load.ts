// Whether an engine and its kernel take a set of policies, found out beside the engine that runs: a second one loads them,
// writes an export of its own, says what became of each, and ends. Nothing of it acts: whoever asks has compiled every
// policy to monitor. decision: D78
import { spawn } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { POLICY_CONFIRM_TIMEOUT_MS } from '../../machines/sensor/policy-limits.ts';

/** The lines it said until it had said all of its policies. Rejects when it does not come to that. */
export async function dryLoad(
  program: string,
  folder: string,
  policies: string,
): Promise<readonly string[]> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const policyFile = join(folder, 'policies');
  await writeFile(policyFile, policies, { mode: 0o600 });
  const flags = ['--export-filename', join(folder, 'events.log'), '--policy-file', policyFile];
  try {
    return await linesOf(program, [
      ...flags,
      '--ring-kib',
      '64',
      '--ignore-pid',
      String(process.pid),
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function linesOf(program: string, flags: readonly string[]): Promise<readonly string[]> {
  const child = spawn(program, flags, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '' },
  });
  const lines: string[] = [];
  let lastError = '';
  const gone = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, killed) => resolve(`it ended with ${killed ?? code} ${lastError}`));
  });
  child.stdin.on('error', () => undefined);
  createInterface({ input: child.stderr }).on('line', (line) => {
    lastError = line.slice(0, 256);
  });
  const told = new Promise<true>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      if (line.startsWith('{"policies":')) resolve(true);
    });
  });
  const late = setTimeout(() => child.kill('SIGKILL'), POLICY_CONFIRM_TIMEOUT_MS);
  const how = await Promise.race([told, gone]);
  clearTimeout(late);
  // Nobody reads what it would still write, and its programs leave the kernel with it.
  child.kill('SIGKILL');
  await gone;
  if (how !== true) throw new Error(`the policies cannot be tried: ${how}`);
  return lines;
}
