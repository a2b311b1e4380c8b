// The Sensor's package as files beside this program: what `npm run package:sensor` made, or what is made at the first
// request in a process of its own, below this one's priority. One try; what failed is told until the next start.
import { type ChildProcess, spawn } from 'node:child_process';
import { createReadStream, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../actors/runtime/logger.ts';
import { SENSOR_PACKAGE_MAKING_MS } from '../../machines/console/trust/first-hour-limits.ts';
import type { SensorPackages } from '../console-ports.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const MAKER = join(ROOT, 'props', 'packaging', 'build-sensor-package.ts');
const BY_HAND = 'run `npm run package:sensor` in the folder of this Console';
const LOW_PRIORITY = 10;
const WORDS_MAX_CHARS = 4_096;

/** The packages of a version. `folder` and `maker` are this checkout's, but in tests. */
export function createSensorPackages(options: {
  readonly version: string;
  readonly logger: Logger;
  readonly folder?: string;
  readonly maker?: string;
}): SensorPackages {
  const { version, logger, folder = join(ROOT, 'dist'), maker = MAKER } = options;
  const archive = join(folder, `service-sensor-${version}-linux-x64.tar.gz`);
  let making: ChildProcess | null = null;
  let failure: string | null = null;

  function make(): void {
    const child = spawn(process.execPath, [maker], {
      stdio: ['ignore', 'ignore', 'pipe'],
      cwd: ROOT,
    });
    making = child;
    let words = '';
    child.stderr.on('data', (data: Buffer) => {
      words = (words + data.toString()).slice(-WORDS_MAX_CHARS);
    });
    const deadline = setTimeout(() => child.kill('SIGKILL'), SENSOR_PACKAGE_MAKING_MS);
    deadline.unref();
    const end = (why: string | null): void => {
      clearTimeout(deadline);
      making = null;
      if (why === null) return;
      failure = `The package could not be made here: ${BY_HAND}, then try again.`;
      logger.error({ why, words }, 'the package of the Sensor could not be made');
    };
    child.once('error', (error) => end(String(error)));
    child.once('close', (code, signal) => end(code === 0 ? null : `ended with ${signal ?? code}`));
    if (child.pid !== undefined) lower(child.pid);
  }

  return {
    async find() {
      const sum = await readFile(`${archive}.sha256`, 'utf8').catch(() => '');
      const [sha256 = ''] = sum.split(' ');
      if (/^[0-9a-f]{64}$/.test(sha256) && existsSync(archive)) {
        return { kind: 'ready', sha256, open: () => createReadStream(archive) };
      }
      if (making !== null) return { kind: 'pending' };
      if (failure !== null) return { kind: 'missing', reason: failure };
      if (!existsSync(maker)) {
        return { kind: 'missing', reason: `The package is not here: ${BY_HAND}, then try again.` };
      }
      make();
      return { kind: 'pending' };
    },
    close() {
      making?.kill('SIGKILL');
    },
  };
}

function lower(pid: number): void {
  try {
    setPriority(pid, LOW_PRIORITY);
  } catch {
    // It ended already, or the system does not let us: it is made all the same.
  }
}
