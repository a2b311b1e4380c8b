// What the kernel's own description tells the engine. On PREEMPT_RT the verifier refuses BPF_MODIFY_RETURN programs, so
// syscall hooks that need them stay off there; all other collection goes on. `sensor/engine/` acts on it.

/** Whether the text of /proc/version names a PREEMPT_RT kernel (older ones spell it `PREEMPT RT`). */
export function isPreemptRt(version: string): boolean {
  return /\bPREEMPT[_ ]RT(?:_FULL)?\b/.test(version);
}

/** The release in the text of /proc/version, `unknown` when it is not shown. */
export function kernelRelease(version: string): string {
  return /^Linux version (\S{1,128})/.exec(version)?.[1] ?? 'unknown';
}
