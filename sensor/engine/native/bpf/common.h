/* The maps, the filter by process and cgroup, and the head of every event. */
#ifndef COMMON_H
#define COMMON_H

const volatile struct settings settings = {};
/* Set when the engine leaves: what happens from then on is another's to tell, and detaching takes the kernel a second or
 * more. It is a time, not a word: what had begun before still comes, however late this processor gets to it. */
volatile u64 stopped_at = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTERS);
	__type(key, u32);
	__type(value, u64);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, IGNORED_MAX);
	__type(key, u32);
	__type(value, u32);
} ignored SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CGROUPS_MAX);
	__type(key, u64);
	__type(value, u32);
} cgroups SEC(".maps");

static __always_inline void count(u32 which)
{
	u64 *value = bpf_map_lookup_elem(&counters, &which);

	if (value)
		*value += 1;
}

static __always_inline bool is_anothers(const struct event_head *event)
{
	return stopped_at && event->time >= stopped_at;
}

static __always_inline void put(void *event, u64 size)
{
	if (is_anothers(event))
		return;
	if (bpf_ringbuf_output(&ring, event, size, 0))
		count(COUNT_LOST);
}

static __always_inline bool is_ignored(u32 tgid)
{
	return tgid == 0 || tgid == settings.self || bpf_map_lookup_elem(&ignored, &tgid);
}

/* Whether the current task's cgroup, or one above it, is in the list. */
static __always_inline bool is_cgroup_listed(void)
{
	u64 id = bpf_get_current_cgroup_id();

	if (bpf_map_lookup_elem(&cgroups, &id))
		return true;
#pragma unroll
	for (int level = 0; level < CGROUP_LEVELS; level++) {
		id = bpf_get_current_ancestor_cgroup_id(level);
		if (!id)
			break;
		if (bpf_map_lookup_elem(&cgroups, &id))
			return true;
	}
	return false;
}

/* Whether what the current task does is to be told. */
static __always_inline bool is_wanted(u32 tgid)
{
	if (is_ignored(tgid))
		return false;
	if (settings.cgroup_mode == 0)
		return true;
	if (is_cgroup_listed() == (settings.cgroup_mode == 1))
		return true;
	count(COUNT_FILTERED);
	return false;
}

static __always_inline u64 start_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, group_leader, start_boottime);
}

/* Names the current task in the head; the kind is the caller's. */
static __always_inline void fill_head(struct event_head *head, u32 kind)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	u64 id = bpf_get_current_pid_tgid();

	head->kind = kind;
	head->tgid = id >> 32;
	head->tid = (u32)id;
	head->uid = (u32)bpf_get_current_uid_gid();
	head->time = bpf_ktime_get_boot_ns();
	head->start = start_of(task);
	head->cgroup = bpf_get_current_cgroup_id();
}

static __always_inline bool is_current_wanted(void)
{
	return is_wanted(bpf_get_current_pid_tgid() >> 32);
}

static __always_inline void fill_creds(struct creds *to, const struct cred *cred)
{
	to->uid = BPF_CORE_READ(cred, uid.val);
	to->gid = BPF_CORE_READ(cred, gid.val);
	to->euid = BPF_CORE_READ(cred, euid.val);
	to->egid = BPF_CORE_READ(cred, egid.val);
	to->suid = BPF_CORE_READ(cred, suid.val);
	to->sgid = BPF_CORE_READ(cred, sgid.val);
	to->fsuid = BPF_CORE_READ(cred, fsuid.val);
	to->fsgid = BPF_CORE_READ(cred, fsgid.val);
	/* Two 32-bit words before Linux 6.3, one 64-bit word since: the same eight bytes. */
	bpf_probe_read_kernel(&to->permitted, sizeof(u64), &cred->cap_permitted);
	bpf_probe_read_kernel(&to->effective, sizeof(u64), &cred->cap_effective);
	bpf_probe_read_kernel(&to->inheritable, sizeof(u64), &cred->cap_inheritable);
}

static __always_inline u32 netns_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, nsproxy, net_ns, ns.inum);
}

/* The open file behind a descriptor of the current task: what was opened, whatever the caller's string said. */
static __always_inline struct file *file_of(s64 fd)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files = BPF_CORE_READ(table, fd);
	struct file *file = 0;

	if (fd < 0 || fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	bpf_probe_read_kernel(&file, sizeof(file), &files[fd]);
	return file;
}

#endif
