// The real containerd and the real Docker, each with folders of its own and nothing of the machine's: what they hold is what
// the Sensor tells, and what they are given or robbed of shows. CRI-O, which Debian does not have, is in
// `sensor/telemetry/images/images.test.ts` by its recorded state. decision: D76
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createImageReader, NO_IMAGE_SOURCES } from '../../sensor/telemetry/images/images.ts';
import { isSkipped } from '../journeys/fleet.ts';

const WITHIN_MS = 180_000;
const missing = ['/usr/bin/containerd', '/usr/sbin/dockerd', '/usr/bin/ctr'].filter(
  (path) => !existsSync(path),
);
const reason =
  process.getuid?.() !== 0 ? 'needs root' : missing.length > 0 ? `needs ${missing[0]}` : null;
const skipped = isSkipped('container-runtimes', reason);

let folder = '';
const running: ChildProcess[] = [];
const at = (name: string): string => join(folder, name);

/** Ready when this command of its own client works. */
async function start(words: readonly string[], isReady: readonly string[]): Promise<void> {
  const [command = '', ...args] = words;
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  running.push(child);
  let said = '';
  const note = (chunk: Buffer): void => {
    said = `${said}${chunk}`.slice(-4_000);
  };
  child.stdout.on('data', note);
  child.stderr.on('data', note);
  const [client = '', ...asked] = isReady;
  await vi.waitFor(
    () => {
      if (child.exitCode !== null) throw new Error(`${command} ended: ${said}`);
      execFileSync(client, asked, { stdio: 'pipe' });
    },
    { timeout: WITHIN_MS, interval: 200 },
  );
}

/** An archive with one image of one file, as a registry would hand it out. */
function ociArchive(name: string): string {
  const blobs = join(folder, 'oci', 'blobs', 'sha256');
  mkdirSync(blobs, { recursive: true });
  const put = (mediaType: string, content: Buffer | object) => {
    const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
    const digest = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(join(blobs, digest), bytes);
    return { mediaType, digest: `sha256:${digest}`, size: bytes.length };
  };
  const oci = 'application/vnd.oci.image';
  const layer = put(`${oci}.layer.v1.tar`, readFileSync(at('layer.tar')));
  const rootfs = { type: 'layers', diff_ids: [layer.digest] };
  const config = put(`${oci}.config.v1+json`, { architecture: 'amd64', os: 'linux', rootfs });
  const manifest = put(`${oci}.manifest.v1+json`, { schemaVersion: 2, config, layers: [layer] });
  const annotations = { 'io.containerd.image.name': name };
  const index = { schemaVersion: 2, manifests: [{ ...manifest, annotations }] };
  writeFileSync(at('oci/index.json'), JSON.stringify(index));
  writeFileSync(at('oci/oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  execFileSync('tar', ['-cf', at('oci.tar'), '-C', at('oci'), '.']);
  return manifest.digest;
}
const ctr = (...args: readonly string[]) => execFileSync('ctr', ['-a', at('c.sock'), ...args]);
const docker = (...args: readonly string[]) =>
  execFileSync('docker', ['-H', `unix://${at('d.sock')}`, ...args], { encoding: 'utf8' }).trim();

describe.skipIf(skipped)('the images of real runtimes', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'runtimes-'));
    writeFileSync(at('hello'), 'hello');
    execFileSync('tar', ['-cf', at('layer.tar'), '-C', folder, 'hello']);
    const config = [
      'version = 2',
      `root = "${at('c-root')}"`,
      `state = "${at('c-state')}"`,
      'disabled_plugins = ["io.containerd.grpc.v1.cri"]',
      '[grpc]',
      `address = "${at('c.sock')}"`,
    ];
    writeFileSync(at('c.toml'), config.join('\n'));
    await start(['containerd', '-c', at('c.toml')], ['ctr', '-a', at('c.sock'), 'version']);
    const own = ['--data-root', at('d-data'), '--exec-root', at('d-exec'), '-p', at('d.pid')];
    const apart = ['--bridge=none', '--iptables=false', '--ip6tables=false'];
    await start(
      [
        ...['dockerd', '-H', `unix://${at('d.sock')}`, '--containerd', at('c.sock')],
        ...[...own, ...apart, '--storage-driver=vfs'],
      ],
      ['docker', '-H', `unix://${at('d.sock')}`, 'version'],
    );
  }, WITHIN_MS);
  afterAll(async () => {
    for (const child of running.reverse()) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode === null && child.kill('SIGTERM')) await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  }, WITHIN_MS);

  it(
    'should be told with their names, and not any more once they are removed',
    async () => {
      const sources = { ...NO_IMAGE_SOURCES, docker: at('d.sock'), containerd: at('c.sock') };
      const reasons: unknown[] = [];
      const read = createImageReader(sources, (...told) => reasons.push(told));
      expect(await read()).toEqual({ items: [] });
      const digest = ociArchive('r.test/shop:1');
      ctr('-n', 'k8s.io', 'images', 'import', '--no-unpack', at('oci.tar'));
      ctr('-n', 'k8s.io', 'images', 'tag', 'r.test/shop:1', 'r.test/shop:stable');
      const id = docker('import', at('layer.tar'), 'r.test/basket:2');
      const created_at = expect.stringMatching(/^20\d\d-.*Z$/);
      expect((await read())?.items).toEqual([
        { runtime: 'docker', id, names: ['r.test/basket:2'], size_bytes: 5, created_at },
        {
          ...{ runtime: 'containerd', namespace: 'k8s.io', id: digest, created_at },
          names: ['r.test/shop:1', 'r.test/shop:stable'],
        },
      ]);
      docker('rmi', 'r.test/basket:2');
      ctr('-n', 'k8s.io', 'images', 'rm', 'r.test/shop:1');
      const rest = await read();
      expect(rest?.items.map(({ names }) => names)).toEqual([['r.test/shop:stable']]);
      expect(reasons).toEqual([]);
    },
    WITHIN_MS,
  );
});
