/* The path of an open file or directory, from its entry up to the root of its mount tree. */
#ifndef PATHS_H
#define PATHS_H

#define PATH_PARTS_MAX 48
#define NAME_MAX_BYTES 255
#define DELETED " (deleted)"
#define DELETED_AT (PATH_MAX_BYTES - sizeof(DELETED) + 1)

/* Built from its end; the slack lets the verifier see that the longest name fits at any place. */
struct path_scratch {
	u64 mount;
	u64 dentry;
	u32 at;  /* where the text begins */
	u32 len; /* without an ending zero; 0 = unknown */
	u32 which;
	u32 is_busy;
	char text[2 * PATH_MAX_BYTES];
};

/* Programs that can be preempted by others on their CPU have one of their own. */
enum { PATHS_OF_MOST, PATHS_OF_PREEMPTED, PATHS };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PATHS);
	__type(key, u32);
	__type(value, struct path_scratch);
} path_scratches SEC(".maps");

static __always_inline struct path_scratch *path_scratch_at(u32 which)
{
	return bpf_map_lookup_elem(&path_scratches, &which);
}

static __always_inline struct path_scratch *path_scratch(void)
{
	return path_scratch_at(PATHS_OF_MOST);
}

/* A file that lies in no directory, as memfd_create makes them: `/memfd:NAME (deleted)`, as the kernel names it. */
static __always_inline void write_detached(struct path_scratch *scratch, struct dentry *dentry)
{
	u32 len = BPF_CORE_READ(dentry, d_name.len) & NAME_MAX_BYTES;
	u32 at = (DELETED_AT - len - 1) & (PATH_MAX_BYTES - 1);
	const unsigned char *name = BPF_CORE_READ(dentry, d_name.name);

	scratch->text[at] = '/';
	bpf_probe_read_kernel(&scratch->text[at + 1], len, name);
	/* What has no name is called `/`. */
	if (len == 0 || scratch->text[at + 1] == '/')
		return;
	__builtin_memcpy(&scratch->text[DELETED_AT], DELETED, sizeof(DELETED) - 1);
	scratch->at = at;
}

/* One step up; 1 at the top. Functions that are not static are verified once, not once for each call. */
__attribute__((noinline)) int path_step(u32 which)
{
	struct path_scratch *scratch = path_scratch_at(which);
	struct dentry *dentry, *parent, *root;
	struct mount *mount, *upper;
	u32 at, len;

	if (!scratch)
		return 1;
	mount = (struct mount *)scratch->mount;
	dentry = (struct dentry *)scratch->dentry;
	root = BPF_CORE_READ(mount, mnt.mnt_root);
	parent = BPF_CORE_READ(dentry, d_parent);
	if (dentry == root || dentry == parent) {
		if (dentry != root && scratch->at == PATH_MAX_BYTES)
			write_detached(scratch, dentry);
		upper = BPF_CORE_READ(mount, mnt_parent);
		if (dentry != root || upper == mount)
			return 1;
		scratch->dentry = (u64)BPF_CORE_READ(mount, mnt_mountpoint);
		scratch->mount = (u64)upper;
		return 0;
	}
	at = scratch->at;
	len = BPF_CORE_READ(dentry, d_name.len) & NAME_MAX_BYTES;
	if (at > PATH_MAX_BYTES || at < len + 1)
		return 1;
	at = (at - len - 1) & (PATH_MAX_BYTES - 1);
	scratch->text[at] = '/';
	bpf_probe_read_kernel(&scratch->text[at + 1], len, BPF_CORE_READ(dentry, d_name.name));
	scratch->at = at;
	scratch->dentry = (u64)parent;
	return 0;
}

/* Walks from where the scratch stands. A path deeper than the bound keeps its end. */
__attribute__((noinline)) int path_walk(u32 which)
{
	struct path_scratch *scratch = path_scratch_at(which);

	if (!scratch)
		return 0;
	for (int i = 0; i < PATH_PARTS_MAX; i++)
		if (path_step(which))
			break;
	if (scratch->at >= PATH_MAX_BYTES) {
		scratch->at = PATH_MAX_BYTES - 1;
		scratch->text[PATH_MAX_BYTES - 1] = '/';
	}
	scratch->len = PATH_MAX_BYTES - scratch->at;
	return 0;
}

/* Writes the path into this CPU's scratch. */
static __always_inline void write_path(struct path_scratch *scratch, struct vfsmount *vfsmnt, struct dentry *dentry)
{
	scratch->mount = (u64)vfsmnt - bpf_core_field_offset(struct mount, mnt);
	scratch->dentry = (u64)dentry;
	scratch->at = PATH_MAX_BYTES;
	path_walk(scratch->which);
}

static __always_inline void write_path_of(struct path_scratch *scratch, struct file *file)
{
	write_path(scratch, BPF_CORE_READ(file, f_path.mnt), BPF_CORE_READ(file, f_path.dentry));
}

/* Copies the path out of the scratch; its length, 0 when there is none. `to` has room for PATH_MAX_BYTES. */
static __always_inline u32 copy_path(char *to, struct path_scratch *scratch)
{
	u32 at = scratch->at, len = scratch->len;

	if (at >= PATH_MAX_BYTES || len >= PATH_MAX_BYTES)
		return 0;
	asm volatile("" : "+r"(len));
	len &= PATH_MAX_BYTES - 1;
	return bpf_probe_read_kernel(to, len, &scratch->text[at]) ? 0 : len;
}

#endif
