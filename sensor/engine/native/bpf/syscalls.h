/* What is asked of the kernel: opens of watched files, changes of privileges, tracing of others, bpf() and modules. */
#ifndef SYSCALLS_H
#define SYSCALLS_H

#define MAY_WRITE_MODE 2
#define NR_INIT_MODULE 175
#define NR_FINIT_MODULE 313
#define PTRACE_TRACEME 0
#define PTRACE_ATTACH 16
#define PTRACE_SEIZE 0x4206
/* What the owner of a running program asks all the time, and what only looks: elements of maps one by one (1-4, 21) or many
 * (24-27), test runs (10), numbers and descriptors of what is there (11-16, 19, 20, 23, 30, 31), and MAP_FREEZE (22), which
 * only takes away. Whatever else there is or will be is told. */
#define BPF_QUIET_COMMANDS 0xcff9fc1eull
#define BPF_OBJ_PIN 6
#define BPF_OBJ_GET 7

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, WATCHED_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct watch_key);
	__type(value, u32);
} watched SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct watch_key);
} watch_keys SEC(".maps");

struct open_scratch {
	struct event_open event;
	char path[2 * PATH_MAX_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct open_scratch);
} open_scratches SEC(".maps");

/* How a path is watched: the longest prefix that fits decides. */
static __always_inline u32 watch_of(struct path_scratch *scratch)
{
	u32 zero = 0;
	struct watch_key *key = bpf_map_lookup_elem(&watch_keys, &zero);
	u32 at = scratch->at, len = scratch->len;
	u32 *found;

	if (len > WATCH_PREFIX_BYTES)
		len = WATCH_PREFIX_BYTES;
	asm volatile("" : "+r"(len));
	if (!key || at >= PATH_MAX_BYTES || len > WATCH_PREFIX_BYTES ||
	    bpf_probe_read_kernel(key->path, len, &scratch->text[at]))
		return 0;
	key->bits = len * 8;
	found = bpf_map_lookup_elem(&watched, key);
	return found ? *found : 0;
}

static __always_inline void tell_open(struct path_scratch *scratch, struct file *file)
{
	u32 zero = 0, how, len;
	struct open_scratch *to = bpf_map_lookup_elem(&open_scratches, &zero);

	if (!scratch || !to || !file)
		return;
	write_path_of(scratch, file);
	how = watch_of(scratch);
	if (!(how & WATCH_READ) && !((how & WATCH_WRITE) && (BPF_CORE_READ(file, f_mode) & MAY_WRITE_MODE)))
		return;
	if (!is_current_wanted())
		return;
	len = copy_path(to->path, scratch);
	fill_head(&to->event.head, EVENT_OPEN);
	to->event.flags = BPF_CORE_READ(file, f_flags);
	to->event.mode = BPF_CORE_READ(file, f_inode, i_mode);
	to->event.path_len = len;
	put(to, sizeof(struct event_open) + (len & (PATH_MAX_BYTES - 1)));
}

/* openat, openat2, open, creat, open_by_handle_at: one program at the return of all of them. */
SEC("tp")
int on_exit_open(struct trace_event_raw_sys_exit *context)
{
	if (context->ret >= 0)
		tell_open(path_scratch(), file_of(context->ret));
	return 0;
}

/* set*uid, set*gid, capset, setns, unshare: what the task is afterwards; the engine knows what it was before. */
SEC("tp")
int on_exit_cred(struct trace_event_raw_sys_exit *context)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct event_cred event = {};

	/* setfsuid and setfsgid return the old id. */
	if (context->ret < 0 || !is_current_wanted())
		return 0;
	fill_head(&event.head, EVENT_CRED);
	event.syscall = context->id;
	fill_creds(&event.creds, BPF_CORE_READ(task, cred));
	fill_namespaces(event.ns, task, BPF_CORE_READ(task, cred));
	put(&event, sizeof(event));
	return 0;
}

SEC("tp/syscalls/sys_enter_ptrace")
int on_enter_ptrace(struct trace_event_raw_sys_enter *context)
{
	u64 request = context->args[0];
	struct event_ptrace event = {};

	if (request != PTRACE_ATTACH && request != PTRACE_SEIZE && request != PTRACE_TRACEME)
		return 0;
	if (!is_current_wanted())
		return 0;
	fill_head(&event.head, EVENT_PTRACE);
	event.request = request;
	event.target = context->args[1];
	put(&event, sizeof(event));
	return 0;
}

/* The heads of what programs are loaded and maps are made with; the kernel's interface keeps these places. */
struct program_load {
	u32 type;
	u32 instructions;
	u64 code, license;
	u32 log_level, log_size;
	u64 log;
	u32 kernel_version, flags;
	char name[BPF_NAME_BYTES];
};
struct map_create {
	u32 type, key_size, value_size, entries, flags, inner, node;
	char name[BPF_NAME_BYTES];
};

static __always_inline void describe_bpf(struct event_bpf *event, void *attributes)
{
	struct program_load load = {};
	struct map_create map = {};
	u64 path = 0;

	switch (event->command) {
	case BPF_COMMAND_PROG_LOAD:
		if (bpf_probe_read_user(&load, sizeof(load), attributes))
			return;
		event->type = load.type;
		event->count = load.instructions;
		__builtin_memcpy(event->text, load.name, sizeof(load.name));
		return;
	case BPF_COMMAND_MAP_CREATE:
		/* Older programs give no name, and less than that. */
		if (bpf_probe_read_user(&map, sizeof(map), attributes))
			return;
		event->type = map.type;
		event->count = map.entries;
		__builtin_memcpy(event->text, map.name, sizeof(map.name));
		return;
	case BPF_OBJ_PIN:
	case BPF_OBJ_GET:
		if (!bpf_probe_read_user(&path, sizeof(path), attributes))
			bpf_probe_read_user_str(event->text, sizeof(event->text), (void *)path);
	}
}

SEC("tp/syscalls/sys_enter_bpf")
int on_enter_bpf(struct trace_event_raw_sys_enter *context)
{
	u32 command = context->args[0], size = context->args[2];
	struct event_bpf event = {};

	if (command < 64 && (BPF_QUIET_COMMANDS >> command & 1))
		return 0;
	if (!is_current_wanted())
		return 0;
	fill_head(&event.head, EVENT_BPF);
	event.command = command;
	describe_bpf(&event, (void *)context->args[1]);
	if (command == BPF_COMMAND_MAP_CREATE && size < sizeof(struct map_create))
		__builtin_memset(event.text, 0, BPF_NAME_BYTES);
	put(&event, sizeof(event));
	return 0;
}

struct module_scratch {
	struct event_module event;
	char path[2 * PATH_MAX_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct module_scratch);
} module_scratches SEC(".maps");

static __always_inline void tell_module(u32 syscall, u64 first, u64 second)
{
	struct path_scratch *scratch = path_scratch();
	u32 zero = 0, len = 0;
	struct module_scratch *to = bpf_map_lookup_elem(&module_scratches, &zero);
	struct file *file = syscall == NR_FINIT_MODULE ? file_of((s32)first) : 0;

	if (!scratch || !to || !is_current_wanted())
		return;
	fill_head(&to->event.head, EVENT_MODULE);
	to->event.syscall = syscall;
	to->event.length = syscall == NR_INIT_MODULE ? second : 0;
	if (file) {
		write_path_of(scratch, file);
		len = copy_path(to->path, scratch);
	}
	to->event.path_len = len;
	put(to, sizeof(struct event_module) + (len & (PATH_MAX_BYTES - 1)));
}

/* A module that was taken. Only where the kernel has modules; not run on any kernel yet. */
SEC("raw_tp/module_load")
int on_module_load(struct bpf_raw_tracepoint_args *context)
{
	struct module *module = (struct module *)context->args[0];
	u32 zero = 0;
	struct module_scratch *to = bpf_map_lookup_elem(&module_scratches, &zero);
	long len;

	if (!to || !is_current_wanted())
		return 0;
	fill_head(&to->event.head, EVENT_MODULE);
	to->event.syscall = SYSCALL_NONE;
	to->event.length = 0;
	len = bpf_probe_read_kernel_str(to->path, MODULE_NAME_BYTES, module->name);
	to->event.path_len = len > 0 ? len - 1 : 0;
	put(to, sizeof(struct event_module) + (to->event.path_len & (MODULE_NAME_BYTES - 1)));
	return 0;
}

/* Where the kernel knows the calls: their own tracepoints. */
SEC("tp")
int on_enter_module(struct trace_event_raw_sys_enter *context)
{
	tell_module(context->id, context->args[0], context->args[1]);
	return 0;
}

/* Where it does not (a kernel without modules answers ENOSYS and has no tracepoint for the call): every call is looked at. */
SEC("raw_tp/sys_enter")
int on_any_call(struct bpf_raw_tracepoint_args *context)
{
	struct pt_regs *regs = (struct pt_regs *)context->args[0];
	u64 syscall = context->args[1];

	if (syscall != NR_INIT_MODULE && syscall != NR_FINIT_MODULE)
		return 0;
	tell_module(syscall, BPF_CORE_READ(regs, di), BPF_CORE_READ(regs, si));
	return 0;
}

#endif
