// Sockets of a network namespace of the kernel's own making. Needs root.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { createSocketReader } from './sockets.ts';

const LISTEN =
  "require('node:net').createServer().listen(0, '0.0.0.0', function () { console.log(this.address().port) })";
const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stderr.write('skipped: another network namespace needs root\n');

it.skipIf(!isRoot)('should list the listener of a container, with its program', async () => {
  const inside = spawn('unshare', ['--net', process.execPath, '--eval', LISTEN], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(inside, 'exit');
  try {
    const [printed] = (await once(inside.stdout, 'data')) as [Buffer];
    const port = Number(printed.toString());
    const { listening_services } = await createSocketReader()();
    expect(
      listening_services.find((one) => one.port === port && one.network_namespace !== undefined),
    ).toEqual({
      ...{ protocol: 'tcp', ip: '0.0.0.0', port, pid: inside.pid, binary: process.execPath },
      network_namespace: expect.stringMatching(/^\d+$/),
    });
  } finally {
    inside.kill();
    await ended;
  }
});
