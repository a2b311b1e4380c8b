// The container images of this node, of every runtime that it has. Each is asked alone: one that does not answer is told of
// once and leaves what it told last, so that its images do not come and go; one that is not there has none. decision: D76
import type { InventoryItem } from '../../../machines/wire/inventory.ts';
import { errorCode } from '../../state-directory/file-port.ts';
import type { Listed } from '../shortened.ts';
import { type Image, imageItems, type Runtime } from './image-item.ts';

/** Where each runtime is asked; null: it is not. */
export type ImageSources = {
  readonly docker: string | null;
  readonly containerd: string | null;
  readonly storage: string | null;
};
export type TellRuntime = (runtime: Runtime, reason: string | null) => void;
type Read = (place: string) => Promise<readonly Image[]>;

export const NO_IMAGE_SOURCES: ImageSources = { docker: null, containerd: null, storage: null };
const REASON_MAX_CHARS = 300;

/** Loaded when there is something to ask: most nodes have one of them, or none. */
const READERS: Readonly<Record<Runtime, Read>> = {
  docker: async (place) => (await import('./docker-images.ts')).readDockerImages(place),
  containerd: async (place) => (await import('./containerd-images.ts')).readContainerdImages(place),
  containers_storage: async (place) => {
    return (await import('./storage-images.ts')).readStorageImages(place);
  },
};

/**
 * Reads the images of all runtimes; null while there is one and none has told anything yet. `tell` hears once why a runtime
 * does not answer, and null when it does again. Never rejects.
 */
export function createImageReader(
  { docker, containerd, storage }: ImageSources,
  tell: TellRuntime = () => undefined,
): () => Promise<Listed<InventoryItem> | null> {
  const places = new Map<Runtime, string>();
  if (docker !== null) places.set('docker', docker);
  if (containerd !== null) places.set('containerd', containerd);
  if (storage !== null) places.set('containers_storage', storage);
  const held = new Map<Runtime, readonly Image[]>();
  const told = new Map<Runtime, string>();

  function note(runtime: Runtime, reason: string | null): void {
    if ((told.get(runtime) ?? null) === reason) return;
    if (reason === null) told.delete(runtime);
    else told.set(runtime, reason);
    tell(runtime, reason);
  }

  async function ask(runtime: Runtime, place: string): Promise<void> {
    try {
      held.set(runtime, await READERS[runtime](place));
      note(runtime, null);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') {
        held.set(runtime, []);
        note(runtime, null);
      } else
        note(
          runtime,
          String(error instanceof Error ? error.message : error).slice(0, REASON_MAX_CHARS),
        );
    }
  }

  return async () => {
    await Promise.all([...places].map(([runtime, place]) => ask(runtime, place)));
    if (held.size === 0 && places.size > 0) return null;
    return imageItems([...places.keys()].flatMap((runtime) => held.get(runtime) ?? []));
  };
}
