// What an operator asks of the `ebpf` engine beyond what it does by itself: its flags, and what of it cannot be honoured.
// Nothing of it is left out in silence; it stands among the disabled hooks.
import { statfs } from 'node:fs/promises';
import type { HookReport } from '../../machines/sensor/engine.rules.ts';
import type { EbpfConfig } from './ebpf-config.ts';
import { WATCHED, WATCHED_WRITES } from './watched-paths.ts';

export type EbpfFlags = {
  readonly flags: readonly string[];
  readonly disabled: readonly HookReport[];
};

const CGROUP2_MAGIC = 0x63677270;
const REASON_MAX_CHARS = 512;

/** The flags for a start now. A control group that is not there is left out, since the engine refuses it. Never rejects. */
export async function ebpfFlagsOf(config: EbpfConfig): Promise<EbpfFlags> {
  const cgroups = await existing('cgroups', '--cgroup', config.cgroups);
  const excluded = await existing('exclude_cgroups', '--exclude-cgroup', config.excludeCgroups);
  return {
    flags: [
      ...watchFlags(config),
      ...cgroups.flags,
      ...excluded.flags,
      ...(config.tellClose ? ['--tell-close'] : []),
    ],
    disabled: [...cgroups.disabled, ...excluded.disabled],
  };
}

/** What of it this engine would not honour if it began now. Never rejects. */
export async function notHonoured(
  kind: string,
  config: EbpfConfig,
): Promise<readonly HookReport[]> {
  return kind === 'ebpf' ? (await ebpfFlagsOf(config)).disabled : unhonoured(kind, config);
}

/** What another engine does not do of it. */
export function unhonoured(kind: string, config: EbpfConfig): readonly HookReport[] {
  const asked = {
    watch_paths: config.watchPaths.length > 0,
    watch_write_paths: config.watchWritePaths.length > 0,
    cgroups: config.cgroups.length > 0,
    exclude_cgroups: config.excludeCgroups.length > 0,
    tell_close: config.tellClose,
  };
  return Object.entries(asked)
    .filter(([, isAsked]) => isAsked)
    .map(([key]) => report(key, `sensor.yaml asks for it, and the engine ${kind} cannot do it`));
}

// In the kernel the longest prefix alone decides, so that none which tells of writes only may lie below one that tells of
// both.
function watchFlags({ watchPaths, watchWritePaths }: EbpfConfig): readonly string[] {
  if (watchPaths.length + watchWritePaths.length === 0) return [];
  const both = [...new Set([...WATCHED, ...watchPaths])];
  const writes = [...new Set([...WATCHED_WRITES, ...watchWritePaths])];
  const own = writes.filter((path) => !both.some((prefix) => path.startsWith(prefix)));
  return [
    ...both.flatMap((path) => ['--watch-path', path]),
    ...own.flatMap((path) => ['--watch-write-path', path]),
  ];
}

async function existing(key: string, flag: string, paths: readonly string[]): Promise<EbpfFlags> {
  const found = await Promise.all(
    paths.map(async (path) => ({ path, isThere: await isCgroup(path) })),
  );
  const there = found.filter(({ isThere }) => isThere);
  const missing = found.filter(({ isThere }) => !isThere).map(({ path }) => path);
  const flags = there.flatMap(({ path }) => [flag, path]);
  if (missing.length === 0) return { flags, disabled: [] };
  const none = there.length === 0 ? ', so that nothing is filtered' : '';
  const reason = `no cgroup of version 2 when the engine began${none}: ${missing.join(', ')}`;
  return { flags, disabled: [report(key, reason)] };
}

// The number of another file would stand for some other group, or for none.
async function isCgroup(path: string): Promise<boolean> {
  return await statfs(path).then(
    ({ type }) => type === CGROUP2_MAGIC,
    () => false,
  );
}

function report(key: string, reason: string): HookReport {
  return { hook: `ebpf/${key}`, reason: reason.slice(0, REASON_MAX_CHARS) };
}
