// Reads which kernel this node runs, once at startup.
import { readFile } from 'node:fs/promises';
import { isPreemptRt, kernelRelease } from '../../machines/sensor/kernel.rules.ts';

export type Kernel = { readonly preemptRt: boolean; readonly release: string };

/** The running kernel; an unreadable /proc/version counts as an unknown, ordinary one. Never rejects. */
export async function readKernel(file = '/proc/version'): Promise<Kernel> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return { preemptRt: isPreemptRt(text), release: kernelRelease(text) };
}
