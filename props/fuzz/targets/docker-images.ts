// The lists of images that a Docker answers and that CRI-O keeps in a file: whatever they say, what comes out fits the
// inventory, is bounded, and names no image that they did not.
import { CONTAINER_IMAGES_MAX } from '../../../machines/pipeline-limits.ts';
import { parseDockerImages } from '../../../sensor/telemetry/images/docker-images.ts';
import { imageItems } from '../../../sensor/telemetry/images/image-item.ts';
import { parseStorageImages } from '../../../sensor/telemetry/images/storage-images.ts';
import { demandSection } from '../inventory-oracle.ts';
import type { FuzzTarget } from '../target.ts';

const ID = `sha256:${'a'.repeat(64)}`;

const target: FuzzTarget = {
  name: 'docker-images',
  modules: [
    'sensor/telemetry/images/docker-images.ts',
    'sensor/telemetry/images/storage-images.ts',
    'sensor/telemetry/images/image-item.ts',
  ],
  form: 'json',
  dictionary: ['Id', 'id', 'RepoTags', 'names', '<none>:<none>', 'created', '2026-08-01T10:00:00Z'],
  seeds: () =>
    [
      [{ Id: ID, RepoTags: ['r.test/a:1'], RepoDigests: null, Created: 1_790_000_000, Size: 7 }],
      [{ Id: ID, RepoTags: ['<none>:<none>'], Created: -1, Size: 1e300 }, null, 5],
      [{ id: 'a'.repeat(64), names: ['r.test/a:1', 4], created: '2026-08-01T10:00:00.1Z' }],
      [{ id: '\ud800', names: { length: 9 }, created: '+275760-09-13T00:00:00.001Z' }],
      Array.from({ length: 40 }, () => ({ Id: ID, RepoTags: Array(40).fill('n'.repeat(600)) })),
      { Id: ID },
    ].map((one) => Buffer.from(JSON.stringify(one))),
  run(bytes, note) {
    const text = bytes.toString('utf8');
    for (const parse of [parseDockerImages, parseStorageImages]) {
      const images = parse(text);
      if (images === null) continue;
      const { length } = demandSection(
        'container_images',
        imageItems(images),
        CONTAINER_IMAGES_MAX,
      );
      note(`${parse.name} ${Math.min(length, 3)}`);
    }
  },
};
export default target;
