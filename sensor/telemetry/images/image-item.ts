// A container image as the inventory tells it, whichever runtime holds it. All texts are the runtime's: cut, made
// well-formed, and bounded in number. decision: D76
import {
  CONTAINER_IMAGE_NAME_MAX_CHARS,
  CONTAINER_IMAGE_NAMES_MAX,
  CONTAINER_IMAGES_MAX,
} from '../../../machines/pipeline-limits.ts';
import type { InventoryItem } from '../../../machines/wire/inventory.ts';
import { cutText } from '../../pipeline/json-value.ts';
import type { Listed } from '../shortened.ts';

export type Runtime = 'docker' | 'containerd' | 'containers_storage';
export type Image = {
  readonly runtime: Runtime;
  /** Of a containerd; absent elsewhere. */
  readonly namespace?: string;
  /** The digest that the runtime knows it by. */
  readonly id: string;
  readonly names: readonly string[];
  readonly sizeBytes?: number | undefined;
  /** RFC 3339, as far as the runtime tells it. */
  readonly createdAt?: string | undefined;
};

/** Images as items of the inventory; of more than a bound the first are told, and how many there are. */
export function imageItems(images: readonly Image[]): Listed<InventoryItem> {
  const items = images.slice(0, CONTAINER_IMAGES_MAX).map(itemOf);
  return images.length === items.length ? { items } : { items, total: images.length };
}

function itemOf({ runtime, namespace, id, names, sizeBytes, createdAt }: Image): InventoryItem {
  const known = [...new Set(names.map(textOf))].sort();
  return {
    runtime,
    ...(namespace === undefined ? {} : { namespace: textOf(namespace) }),
    id: textOf(id),
    names: known.slice(0, CONTAINER_IMAGE_NAMES_MAX),
    ...(sizeBytes === undefined ? {} : { size_bytes: sizeBytes }),
    ...(createdAt === undefined ? {} : { created_at: createdAt }),
  };
}

function textOf(text: string): string {
  return cutText(text, CONTAINER_IMAGE_NAME_MAX_CHARS);
}

/** An instant in seconds since 1970; undefined for what is none. */
export function instantOf(seconds: number | undefined): string | undefined {
  if (seconds === undefined || seconds <= 0 || seconds > INSTANT_MAX_SECONDS) return undefined;
  return new Date(seconds * 1_000).toISOString();
}
/** The end of the year 9999: what comes later has no RFC 3339 text. */
const INSTANT_MAX_SECONDS = 253_402_300_799;
