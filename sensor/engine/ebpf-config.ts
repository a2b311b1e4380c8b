// The `ebpf:` mapping of sensor.yaml: what the `ebpf` engine watches and leaves out beside what it does by itself. Each
// mistake names its field.
import {
  EBPF_CGROUP_PATH_MAX_BYTES,
  EBPF_CGROUPS_MAX,
  EBPF_WATCH_PATH_MAX_BYTES,
  EBPF_WATCH_PATHS_MAX,
} from '../../machines/sensor/ebpf-limits.ts';
import { mappingIn, type SensorSetting } from '../config/setting.ts';

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

export const ebpf: SensorSetting<EbpfConfig> = {
  keys: ['ebpf'],
  read(given) {
    const { mistakes } = given;
    const mapping = mappingIn(given, 'ebpf', [...Object.keys(LISTS), 'tell_close']);
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
      mistakes.push(
        `ebpf.${key}: must be at most ${most} absolute paths of ${maxBytes} bytes each`,
      );
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
  },
};
