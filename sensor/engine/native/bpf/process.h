/* Processes: exec, fork and exit, from the scheduler's tracepoints. */
#ifndef PROCESS_H
#define PROCESS_H

#define EXEC_DATA_BYTES (4 * PATH_MAX_BYTES)
#define CGROUP_PARTS_MAX 4
#define CONNECT_CALLS_MAX 16384
#define CONTAINER_ID_BYTES 64
#define KERNEL_THREAD 0x00200000 /* PF_KTHREAD */

/* connect: the descriptor is known only when it is asked for, the source port only when it has been answered. By thread;
 * taken out when the call returns, which it also does for a thread that is killed in it, or else when the thread ends. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CONNECT_CALLS_MAX);
	__type(key, u64);
	__type(value, s64);
} connect_calls SEC(".maps");

struct exec_scratch {
	struct event_exec event;
	char data[EXEC_DATA_BYTES + PATH_MAX_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct exec_scratch);
} exec_scratches SEC(".maps");

static __always_inline struct kernfs_node *above(struct kernfs_node *node)
{
	struct kernfs_node___v615 *newer = (void *)node;

	if (bpf_core_field_exists(newer->__parent))
		return BPF_CORE_READ(newer, __parent);
	return BPF_CORE_READ(node, parent);
}

/* The first cgroup name, from the leaf up, that is long enough to hold a container's id. */
static __always_inline u32 container_name(char *to, struct kernfs_node *node)
{
	for (int i = 0; i < CGROUP_PARTS_MAX && node; i++) {
		long len = bpf_probe_read_kernel_str(to, CGROUP_NAME_BYTES, BPF_CORE_READ(node, name));

		if (len > CONTAINER_ID_BYTES && len <= CGROUP_NAME_BYTES)
			return len - 1;
		node = above(node);
	}
	return 0;
}

static __always_inline u32 container_name_of(char *to, struct task_struct *task)
{
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	u32 len = container_name(to, BPF_CORE_READ(set, dfl_cgrp, kn));

	if (len == 0 && bpf_core_enum_value_exists(enum cgroup_subsys_id, pids_cgrp_id)) {
		u64 at = bpf_core_enum_value(enum cgroup_subsys_id, pids_cgrp_id);
		struct cgroup_subsys_state *state = 0;

		bpf_probe_read_kernel(&state, sizeof(state), &set->subsys[at]);
		len = container_name(to, BPF_CORE_READ(state, cgroup, kn));
	}
	return len;
}

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *context)
{
	struct task_struct *task = (struct task_struct *)context->args[0];
	struct linux_binprm *bprm = (struct linux_binprm *)context->args[2];
	struct path_scratch *scratch = path_scratch();
	u32 zero = 0, at = 0;
	struct exec_scratch *to = bpf_map_lookup_elem(&exec_scratches, &zero);
	const struct cred *cred = BPF_CORE_READ(task, cred);
	struct task_struct *parent;
	struct mm_struct *mm;
	struct fs_struct *fs;
	struct file *file;
	u64 args_start, args_size;
	long len;

	if (!to || !scratch || !is_current_wanted())
		return 0;
	fill_head(&to->event.head, EVENT_EXEC);
	to->event.flags = 0;
	fill_creds(&to->event.creds, cred);
	to->event.auid = ~0u;
	if (bpf_core_field_exists(task->loginuid))
		to->event.auid = BPF_CORE_READ(task, loginuid.val);
	parent = BPF_CORE_READ(task, real_parent);
	to->event.ppid = BPF_CORE_READ(parent, tgid);
	to->event.pstart = start_of(parent);
	fill_namespaces(to->event.ns, task, cred);

	len = bpf_probe_read_kernel_str(to->data, PATH_MAX_BYTES, BPF_CORE_READ(bprm, filename));
	to->event.filename_len = len > 0 && len <= PATH_MAX_BYTES ? len - 1 : 0;
	at = to->event.filename_len & (PATH_MAX_BYTES - 1);

	/* What runs: of a script its interpreter, while the filename above names the script. */
	file = BPF_CORE_READ(bprm, file);
	to->event.inode = BPF_CORE_READ(file, f_inode, i_ino);
	to->event.links = BPF_CORE_READ(file, f_inode, i_nlink);
	to->event.mode = BPF_CORE_READ(file, f_inode, i_mode);
	write_path_of(scratch, file);
	len = copy_path(&to->data[at], scratch);
	to->event.file_len = len;
	at += len & (PATH_MAX_BYTES - 1);
	fs = BPF_CORE_READ(task, fs);
	write_path(scratch, BPF_CORE_READ(fs, pwd.mnt), BPF_CORE_READ(fs, pwd.dentry));
	len = copy_path(&to->data[at], scratch);
	to->event.cwd_len = len;
	if (to->event.cwd_len == 0)
		to->event.flags |= EXEC_NO_CWD;
	at += len & (PATH_MAX_BYTES - 1);

	mm = BPF_CORE_READ(task, mm);
	args_start = BPF_CORE_READ(mm, arg_start);
	args_size = BPF_CORE_READ(mm, arg_end) - args_start;
	if (args_size > ARGS_MAX_BYTES - 1) {
		args_size = ARGS_MAX_BYTES - 1;
		to->event.flags |= EXEC_ARGS_CUT;
		count(COUNT_CUT);
	}
	args_size &= ARGS_MAX_BYTES - 1;
	if (bpf_probe_read_user(&to->data[at], args_size, (void *)args_start)) {
		to->event.flags |= EXEC_NO_ARGS;
		args_size = 0;
	}
	to->event.args_len = args_size;
	at += args_size;
	len = container_name_of(&to->data[at], task);
	to->event.cgroup_len = len;
	at += len & (CGROUP_NAME_BYTES - 1);
	put(to, sizeof(struct event_exec) + at);
	return 0;
}

SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *context)
{
	struct task_struct *child = (struct task_struct *)context->args[1];
	struct task_struct *parent = BPF_CORE_READ(child, real_parent);
	struct event_fork event = {};

	/* The parent may be a process to be silent about while its child is not. */
	if (BPF_CORE_READ(child, tgid) != BPF_CORE_READ(child, pid) || (BPF_CORE_READ(child, flags) & KERNEL_THREAD))
		return 0;
	if (settings.cgroup_mode && !is_wanted(BPF_CORE_READ(child, tgid)))
		return 0;
	fill_head(&event.head, EVENT_FORK);
	event.head.tgid = BPF_CORE_READ(child, tgid);
	event.head.tid = event.head.tgid;
	event.head.start = BPF_CORE_READ(child, start_boottime);
	event.ptgid = BPF_CORE_READ(parent, tgid);
	event.pstart = start_of(parent);
	put(&event, sizeof(event));
	return 0;
}

SEC("raw_tp/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args *context)
{
	struct task_struct *task = (struct task_struct *)context->args[0];
	struct signal_struct *signal = BPF_CORE_READ(task, signal);
	struct event_exit event = {};
	u64 id = bpf_get_current_pid_tgid();

	bpf_map_delete_elem(&connect_calls, &id);
	/* Only the last thread ends the process. Two that end at once may both say so: the reader believes the first. */
	if (BPF_CORE_READ(signal, live.counter) != 0 || (BPF_CORE_READ(task, flags) & KERNEL_THREAD))
		return 0;
	if (!is_current_wanted())
		return 0;
	fill_head(&event.head, EVENT_EXIT);
	event.code = BPF_CORE_READ(signal, group_exit_code);
	if (event.code == 0)
		event.code = BPF_CORE_READ(task, exit_code);
	put(&event, sizeof(event));
	return 0;
}

#endif
