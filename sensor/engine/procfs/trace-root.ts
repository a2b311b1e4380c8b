// Where the kernel's traces are. Where nobody has mounted tracefs, a child mounts it in a mount namespace of its own; this
// engine keeps a descriptor of it, and with the child the mount is gone from everywhere else. Nothing on the machine changes.
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';

const MOUNTED = ['/sys/kernel/tracing', '/sys/kernel/debug/tracing'];
/** The kernel's own place for it; in the child's namespace only. */
const PLACE = '/sys/kernel/tracing';
const MOUNT = 'mount -t tracefs tracefs "$0" && echo mounted && read -r end';
const MOUNT_TIMEOUT_MS = 2_000;
const WHY_MAX_CHARS = 200;

export type TraceRoot = { readonly root: string } | { readonly refused: string };

/** A directory with `instances` in it, for as long as this process lives. Never rejects. */
export async function openTraceRoot(): Promise<TraceRoot> {
  const mounted = MOUNTED.find((one) => fs.existsSync(`${one}/instances`));
  if (mounted !== undefined) return { root: mounted };
  try {
    return { root: await mountOwn() };
  } catch (error) {
    return { refused: `tracefs is not mounted: ${String(error).slice(0, WHY_MAX_CHARS)}` };
  }
}

async function mountOwn(): Promise<string> {
  const child = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', MOUNT, PLACE]);
  const timer = setTimeout(() => child.kill('SIGKILL'), MOUNT_TIMEOUT_MS);
  try {
    await new Promise<void>((resolve, reject) => {
      let said = '';
      child.on('error', reject).on('close', () => reject(new Error(said.trim() || 'no mount')));
      child.stderr.on('data', (text: Buffer) => {
        said = (said + text.toString()).slice(0, WHY_MAX_CHARS);
      });
      child.stdout.once('data', () => resolve());
    });
    return `/proc/self/fd/${fs.openSync(`/proc/${child.pid}/root${PLACE}`, 'r')}`;
  } finally {
    clearTimeout(timer);
    child.stdin.on('error', () => undefined).end();
  }
}
