// Images as peers on local sockets and a recorded storage tell them. The real runtimes are in
// `props/peers/container-runtimes.services.test.ts`. decision: D76
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readContainerdImages } from './containerd-images.ts';
import { readDockerImages } from './docker-images.ts';
import { createImageReader, type ImageSources, NO_IMAGE_SOURCES } from './images.ts';
import { containerdPeer, dockerPeer, framed, protoBytes, protoImage } from './runtimes.fixture.ts';
import { readStorageImages } from './storage-images.ts';

const digestOf = (digit: string): string => `sha256:${digit.repeat(64)}`;
const dockerImage = (digit: string, ...RepoTags: readonly string[]) => ({
  ...{ Id: digestOf(digit), RepoTags, RepoDigests: null, Created: 1_790_000_000, Size: 77 },
});

let folder = '';
let docker = '';
let containerd = '';
let storage = '';
const servers: Server[] = [];
const serve = async (server: Promise<Server>): Promise<void> => {
  servers.push(await server);
};
const end = async (): Promise<void> => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'images-'));
  docker = join(folder, 'docker.sock');
  containerd = join(folder, 'containerd.sock');
  storage = join(folder, 'storage');
});
afterEach(async () => {
  await end();
  await rm(folder, { recursive: true, force: true });
});

/** As CRI-O 1.30 left it on a node of a cluster, shortened. */
async function recordStorage(): Promise<void> {
  await mkdir(join(storage, 'overlay-images'), { recursive: true });
  const image = {
    id: 'c'.repeat(64),
    digest: digestOf('d'),
    names: ['registry.k8s.io/pause:3.9'],
    layer: 'e'.repeat(64),
    metadata: '{}',
    'big-data-names': [`manifest-${digestOf('d')}`],
    'big-data-sizes': { [digestOf('c')]: 2_405 },
    created: '2026-08-01T10:00:00.123456789Z',
  };
  await writeFile(join(storage, 'overlay-images', 'images.json'), JSON.stringify([image, {}, 5]));
}

describe('images of a node', () => {
  it('should be those of every runtime, each with the names it is known by', async () => {
    const lost = { ...dockerImage('b'), RepoTags: ['<none>:<none>'] };
    await serve(dockerPeer(docker, () => JSON.stringify([dockerImage('a', 'r.test/a:1'), lost])));
    await serve(
      containerdPeer(containerd, (method, namespace) => {
        if (namespace === '') {
          const names = ['k8s.io', 'no header\n', 'shop'].map((one) =>
            protoBytes(1, protoBytes(1, one)),
          );
          return { body: framed(Buffer.concat(names)) };
        }
        expect(method).toMatch(/Images\/List$/);
        const list = [
          protoImage('r.test/b:2', digestOf('2')),
          protoImage(digestOf('9'), digestOf('2'), 1_780_000_000),
          protoImage(`r.test/b@${digestOf('2')}`, digestOf('2')),
        ];
        return { body: framed(namespace === 'shop' ? Buffer.alloc(0) : Buffer.concat(list)) };
      }),
    );
    await recordStorage();
    const told = await createImageReader({ docker, containerd, storage })();
    const created_at = '2026-09-21T14:13:20.000Z';
    expect(told).toEqual({
      items: [
        {
          ...{ runtime: 'docker', id: digestOf('a'), names: ['r.test/a:1'], size_bytes: 77 },
          created_at,
        },
        { runtime: 'docker', id: digestOf('b'), names: [], size_bytes: 77, created_at },
        {
          ...{ runtime: 'containerd', namespace: 'k8s.io', id: digestOf('2') },
          ...{ names: ['r.test/b:2', `r.test/b@${digestOf('2')}`] },
          created_at: '2026-05-28T20:26:40.000Z',
        },
        {
          ...{ runtime: 'containers_storage', id: digestOf('c') },
          ...{ names: ['registry.k8s.io/pause:3.9'], created_at: '2026-08-01T10:00:00.000Z' },
        },
      ],
    });
  });

  it('should be none where there is no runtime, and unknown where none has told yet', async () => {
    const nowhere: ImageSources = { docker, containerd, storage };
    expect(await createImageReader(nowhere)()).toEqual({ items: [] });
    expect(await createImageReader(NO_IMAGE_SOURCES)()).toEqual({ items: [] });
    await serve(dockerPeer(docker, () => 500));
    const reasons: unknown[] = [];
    const read = createImageReader({ ...NO_IMAGE_SOURCES, docker }, (...told) =>
      reasons.push(told),
    );
    expect(await read()).toBe(null);
    expect(await read()).toBe(null);
    expect(reasons).toEqual([['docker', 'docker: status 500']]);
  });

  it('should stay as they were told while a runtime does not answer', async () => {
    let answer: string | number = JSON.stringify([dockerImage('a', 'r.test/a:1')]);
    await serve(dockerPeer(docker, () => answer));
    const reasons: unknown[] = [];
    const sources = { ...NO_IMAGE_SOURCES, docker, storage };
    const read = createImageReader(sources, (...told) => reasons.push(told));
    const before = await read();
    answer = '{"message":"later"}';
    expect(await read()).toEqual(before);
    expect(reasons).toEqual([['docker', 'docker: the answer is no list of images']]);
    answer = '[]';
    expect(await read()).toEqual({ items: [] });
    expect(reasons.at(-1)).toEqual(['docker', null]);
    // Taken away with its socket: it has none.
    answer = JSON.stringify([dockerImage('a')]);
    await read();
    await end();
    expect(await read()).toEqual({ items: [] });
  });

  it('should be told up to a bound, with how many there are', async () => {
    const many = Array.from({ length: 5_000 }, (_, n) => ({ Id: `sha256:${n}` }));
    await serve(dockerPeer(docker, () => JSON.stringify(many)));
    const told = await createImageReader({ ...NO_IMAGE_SOURCES, docker })();
    expect(told?.items).toHaveLength(4_096);
    expect(told?.total).toBe(5_000);
  });
});

describe('a runtime that cannot be believed', () => {
  it.each([
    ['no JSON', 'nonsense'],
    ['no list', '{"Id":"x"}'],
    ['JSON that is nested too deep', '['.repeat(5_000)],
    ['an answer that is too long', `["${'x'.repeat(17_000_000)}"]`],
  ])('should be refused with a reason: Docker with %s', async (_, text) => {
    await serve(dockerPeer(docker, () => text));
    await expect(readDockerImages(docker)).rejects.toThrow(/^docker: /);
  });

  it.each([
    ['a torn message', framed(Buffer.from([0x0a, 0x7f, 1])), '0'],
    ['a wrong length', Buffer.from([0, 0, 0, 0, 9, 1]), '0'],
    ['a compressed message', Buffer.from([1, 0, 0, 0, 0]), '0'],
    ['no message', Buffer.alloc(0), '0'],
    ['a refusal', framed(Buffer.alloc(0)), '7'],
    ['too long a message', Buffer.alloc(17_000_000), '0'],
  ])('should be refused with a reason: containerd with %s', async (_, body, status) => {
    await serve(containerdPeer(containerd, () => ({ body, status })));
    await expect(readContainerdImages(containerd)).rejects.toThrow(/^containerd: /);
  });

  it('should be refused when it speaks something else, or stops listening', async () => {
    await serve(dockerPeer(containerd, () => 'HTTP/1.1'));
    await expect(readContainerdImages(containerd)).rejects.toThrow();
    await expect(readDockerImages(docker)).rejects.toThrow('ENOENT');
    await expect(readContainerdImages(docker)).rejects.toThrow('ENOENT');
  });

  it('should be refused with a reason: a storage that is no file, or no list', async () => {
    await expect(readStorageImages(storage)).rejects.toThrow('ENOENT');
    const list = join(storage, 'vfs-images', 'images.json');
    await mkdir(list, { recursive: true });
    await expect(readStorageImages(storage)).rejects.toThrow();
    await rm(list, { recursive: true });
    await writeFile(list, '{}');
    await expect(readStorageImages(storage)).rejects.toThrow('not a list of images');
    await writeFile(list, Buffer.alloc(17_000_000, ' '));
    await expect(readStorageImages(storage)).rejects.toThrow('too long');
  });
});
