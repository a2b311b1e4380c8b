// What a containerd answers, read by the small reader of protocol buffers: every field it finds lies in the message, in
// order and without overlap; what comes out of it fits the inventory and is bounded.
import { CONTAINER_IMAGES_MAX } from '../../../machines/pipeline-limits.ts';
import {
  parseContainerdImages,
  parseNamespaces,
} from '../../../sensor/telemetry/images/containerd-images.ts';
import { imageItems } from '../../../sensor/telemetry/images/image-item.ts';
import { protoFields } from '../../../sensor/telemetry/images/proto-fields.ts';
import {
  protoBytes,
  protoImage,
  protoNumber,
} from '../../../sensor/telemetry/images/runtimes.fixture.ts';
import { demandSection } from '../inventory-oracle.ts';
import { demand, type FuzzTarget } from '../target.ts';

const DIGEST = `sha256:${'b'.repeat(64)}`;

const target: FuzzTarget = {
  name: 'containerd-images',
  modules: [
    'sensor/telemetry/images/containerd-images.ts',
    'sensor/telemetry/images/proto-fields.ts',
  ],
  form: 'bytes',
  seeds: () => [
    protoImage('r.test/a:1', DIGEST),
    Buffer.concat([protoImage('r.test/a:1', DIGEST), protoImage(DIGEST, DIGEST, 2 ** 60)]),
    Buffer.concat(['k8s.io', 'moby', 'a b'].map((name) => protoBytes(1, protoBytes(1, name)))),
    Buffer.concat([protoNumber(9, 2 ** 53), protoImage('\0', ''), Buffer.from([0x09, 1, 2])]),
    Buffer.from([0x0d, 1, 2, 3, 4, 0x0b]),
    Buffer.alloc(12, 0xff),
    protoImage('n'.repeat(3_000), DIGEST).subarray(0, 2_000),
    Buffer.alloc(0),
  ],
  run(bytes, note) {
    const fields = protoFields(bytes);
    let from = bytes.byteOffset;
    for (const field of fields ?? []) {
      if (!('bytes' in field)) continue;
      const { byteOffset, length } = field.bytes;
      const isWithin = byteOffset + length <= bytes.byteOffset + bytes.length;
      demand(length === 0 || (byteOffset >= from && isWithin), 'a field lies elsewhere');
      from = byteOffset + length;
    }
    const names = parseNamespaces(bytes);
    demand((names === null) === (fields === null), 'one reader refuses what another takes');
    for (const name of names ?? []) demand(/^[\w.~-]+$/.test(name), 'a name fits no header');
    const images = parseContainerdImages(bytes, 'k8s.io');
    if (images === null) return note('torn');
    const kept = demandSection('container_images', imageItems(images), CONTAINER_IMAGES_MAX);
    const ids = new Set(kept.map(({ id }) => id));
    demand(ids.size <= kept.length, 'there are more digests than images');
    note(`${Math.min(names?.length ?? 0, 3)} names, ${Math.min(kept.length, 3)} images`);
  },
};
export default target;
