import { spawnSync } from 'node:child_process';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { SensorPackages } from '../../console-ports.ts';
import { createFixture } from '../plumbing/operator-plane.fixture.ts';

type Found = Awaited<ReturnType<SensorPackages['find']>>;

async function ask(found: Found, url: string) {
  const sensorPackages = { find: async () => found, close: () => undefined };
  const fixture = await createFixture({ ports: { sensorPackages } });
  const answer = await fixture.app.inject({ method: 'GET', url });
  await fixture.close();
  return answer;
}

const sha256 = 'ab'.repeat(32);
const ready: Found = { kind: 'ready', sha256, open: () => Readable.from([Buffer.from('package')]) };
const ARCHIVE = '/sensor-package/0.1.0/linux-x64.tar.gz';

describe('what a node installs', () => {
  it('should be a script that a shell reads, of this version', async () => {
    const { statusCode, body } = await ask(ready, '/install.sh');
    expect(statusCode).toBe(200);
    expect(body).toContain("version='0.1.0'");
    expect(spawnSync('sh', ['-n'], { input: body }).status).toBe(0);
    // Cut off anywhere, it does nothing: what it does stands in its last line.
    expect(body.trimEnd().split('\n').at(-1)).toBe('main "$@"');
  });

  it('should be the archive and its checksum', async () => {
    const archive = await ask(ready, ARCHIVE);
    expect([archive.statusCode, archive.headers['content-type'], archive.body]).toEqual([
      200,
      'application/gzip',
      'package',
    ]);
    expect((await ask(ready, `${ARCHIVE}.sha256`)).body).toBe(`${sha256}  linux-x64.tar.gz\n`);
  });

  it('should ask to wait while it is made, and name the command where it cannot be', async () => {
    const pending = await ask({ kind: 'pending' }, ARCHIVE);
    expect([pending.statusCode, pending.json().code]).toEqual([503, 'sensor_package_pending']);
    expect(pending.headers['retry-after']).toBe('5');
    const missing = await ask({ kind: 'missing', reason: 'run it' }, `${ARCHIVE}.sha256`);
    expect([missing.statusCode, missing.json().code]).toEqual([404, 'sensor_package_missing']);
    expect(missing.json().detail).toBe('run it');
  });

  it('should be of this version and of known platforms alone', async () => {
    const older = await ask(ready, ARCHIVE.replace('0.1.0', '0.0.9'));
    expect([older.statusCode, older.json().detail]).toEqual([
      404,
      'This Console has the package of version 0.1.0.',
    ]);
    expect((await ask(ready, ARCHIVE.replace('linux', 'plan9'))).statusCode).toBe(422);
    expect((await ask(ready, '/sensor-package/0.1.0/..%2f..%2fetc%2fpasswd')).statusCode).toBe(422);
  });
});
