// The `ebpf:` mapping of sensor.yaml: what the `ebpf` engine watches and leaves out beside what it does by itself. Each
// mistake names its field.
import {
  EBPF_CGROUP_PATH_MAX_BYTES,
  EBPF_CGROUPS_MAX,
  EBPF_WATCH_PATH_MAX_BYTES,
  EBPF_WATCH_PATHS_MAX,
} from '../../machines/sensor/ebpf-limits.ts';

export type EbpfConfig = {
  /** Prefixes of paths whose reading and writing is told, beside those that always are. */
  readonly watchPaths: readonly string[];
  /** The same of writing alone. */
  readonly watchWritePaths: readonly string[];
  /** Only what happens in these control groups and below them is told; none = everywhere. */
  readonly cgroups: readonly string[];
  /** What happens in these is not told. Never beside `cgroups`. */
  readonly excludeCgroups: readonly string[];
  /** Whether the end of a TCP connection is told. */
  readonly tellClose: boolean;
};
type Values = Readonly<Record<string, unknown>>;

export const NO_EBPF_CONFIG: EbpfConfig = {
  watchPaths: [],
  watchWritePaths: [],
  cgroups: [],
  excludeCgroups: [],
  tellClose: false,
};
const WATCHED = { most: EBPF_WATCH_PATHS_MAX, maxBytes: EBPF_WATCH_PATH_MAX_BYTES };
const CGROUPS = { most: EBPF_CGROUPS_MAX, maxBytes: EBPF_CGROUP_PATH_MAX_BYTES };
const LISTS = {
  watch_paths: WATCHED,
  watch_write_paths: WATCHED,
  cgroups: CGROUPS,
  exclude_cgroups: CGROUPS,
} as const;
// Nothing a path is made of: it ends a word on a command line, and a line of what is told.
const CONTROL = /\p{Cc}/u;

/** Reads the mapping; what is wrong with it is added to the mistakes. */
export function ebpfConfigOf(given: unknown, mistakes: string[]): EbpfConfig {
  if (given === undefined || given === null) return NO_EBPF_CONFIG;
  if (typeof given !== 'object' || Array.isArray(given)) {
    mistakes.push('ebpf: must be a mapping');
    return NO_EBPF_CONFIG;
  }
  const mapping = given as Values;
  for (const key of Object.keys(mapping)) {
    const isKnown = Object.hasOwn(LISTS, key) || key === 'tell_close';
    if (!isKnown) mistakes.push(`ebpf.${key}: there is no such setting`);
  }
  const paths = (key: keyof typeof LISTS): readonly string[] => {
    const value = mapping[key] ?? [];
    const { most, maxBytes } = LISTS[key];
    const fits = (one: unknown): one is string =>
      typeof one === 'string' &&
      one.startsWith('/') &&
      Buffer.byteLength(one) <= maxBytes &&
      !CONTROL.test(one);
    if (Array.isArray(value) && value.length <= most && value.every(fits)) {
      return [...new Set(value)];
    }
    mistakes.push(`ebpf.${key}: must be at most ${most} absolute paths of ${maxBytes} bytes each`);
    return [];
  };
  const [cgroups, excludeCgroups] = [paths('cgroups'), paths('exclude_cgroups')];
  if (cgroups.length > 0 && excludeCgroups.length > 0) {
    mistakes.push('ebpf.exclude_cgroups: cannot stand beside ebpf.cgroups');
  }
  const tellClose = mapping['tell_close'] ?? false;
  if (typeof tellClose !== 'boolean') mistakes.push('ebpf.tell_close: must be true or false');
  return {
    watchPaths: paths('watch_paths'),
    watchWritePaths: paths('watch_write_paths'),
    cgroups,
    excludeCgroups,
    tellClose: tellClose === true,
  };
}
