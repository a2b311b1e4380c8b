// The bounds of what an operator may ask of the `ebpf` engine, beside those of `machines/limits.ts`: well within the tables
// that its programs have in the kernel. decision: D44
export const EBPF_WATCH_PATHS_MAX = 64;
export const EBPF_WATCH_PATH_MAX_BYTES = 256;
export const EBPF_CGROUPS_MAX = 64;
export const EBPF_CGROUP_PATH_MAX_BYTES = 4_096;
