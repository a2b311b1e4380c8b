/* Judges what a task does by the policies in force: selectors in their order, the first that fits acts. */
#ifndef BPF_POLICY_H
#define BPF_POLICY_H

#define JUDGED_NONE 0
#define JUDGED_OTHER 1
#define JUDGED_FITS 2
#define PAGE_BYTES 4096
#define ERRNO_MAX 4095

/* Fields of structures that others read otherwise. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct mm_struct___exe { struct file *exe_file; };
struct linux_binprm___file { struct file *file; };
#pragma clang attribute pop

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, POLICY_PARTS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct policy_key);
	__type(value, struct policy_part);
} policy_parts SEC(".maps");

/* Which generation is in force. It is read once for each event, so that no event is judged by halves of two. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} policy_generation SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, POLICY_COUNTERS_MAX);
	__type(key, u32);
	__type(value, struct policy_stats);
} policy_stats SEC(".maps");

struct policy_scratch {
	u64 context;
	struct policy_key key;
	u32 rule;
	u32 fetched; /* a bit for each slot */
	u32 used;    /* bytes of data */
	s32 refusal;
	u32 is_busy;
	struct policy_argument slots[POLICY_SLOTS];
	u64 probe[POLICY_TEXT_WORDS];
	struct event_policy event;
	char data[POLICY_DATA_BYTES + POLICY_TEXT_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct policy_scratch);
} policy_scratches SEC(".maps");

static __always_inline struct policy_scratch *policy_scratch(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&policy_scratches, &zero);
}

static __always_inline struct policy_part *policy_part(struct policy_scratch *scratch)
{
	return bpf_map_lookup_elem(&policy_parts, &scratch->key);
}

static __always_inline u32 fetch_path(struct policy_scratch *to, u32 at, struct vfsmount *mount, struct dentry *dentry)
{
	struct path_scratch *path = path_scratch();

	if (!path || !dentry)
		return 0;
	write_path(path, mount, dentry);
	return copy_path(&to->data[at], path);
}

static __always_inline u32 fetch_file(struct policy_scratch *to, u32 at, struct file *file)
{
	if (!file)
		return 0;
	return fetch_path(to, at, BPF_CORE_READ(file, f_path.mnt), BPF_CORE_READ(file, f_path.dentry));
}

static __always_inline u32 text_len(long len)
{
	return len > 0 && len <= PATH_MAX_BYTES ? len - 1 : 0;
}

static __always_inline u64 fetch_number(u64 from, u32 size, u32 is_signed)
{
	u64 number = 0;
	u32 bits;

	if (size > 8)
		size = 8;
	asm volatile("" : "+r"(size));
	if (size == 0 || size > 8 || bpf_probe_read_kernel(&number, size, (void *)from))
		return 0;
	bits = (64 - size * 8) & 63;
	return is_signed ? (u64)((s64)(number << bits) >> bits) : number;
}

static __always_inline u64 buffer_size(struct policy_scratch *scratch, struct policy_arg *arg)
{
	return fetch_number(scratch->context + arg->size_offset, arg->size_size, 0);
}

/* A caller may claim more than there is, and the call takes what is there: then it is read to the end of its page. */
static __always_inline u32 fetch_bytes(struct policy_scratch *to, u32 at, u64 from, u64 len)
{
	u32 most = len > POLICY_BYTES_MAX ? POLICY_BYTES_MAX : len;
	u32 page = PAGE_BYTES - (from & (PAGE_BYTES - 1));

	asm volatile("" : "+r"(most), "+r"(page));
	if (most == 0 || most > POLICY_BYTES_MAX)
		return 0;
	if (!bpf_probe_read_user(&to->data[at], most, (void *)from))
		return most;
	if (page == 0 || page >= most || page > POLICY_BYTES_MAX || bpf_probe_read_user(&to->data[at], page, (void *)from))
		return 0;
	return page;
}

static __always_inline u32 fetch_text(struct policy_scratch *to, u32 at, struct policy_arg *arg, u64 number)
{
	struct linux_binprm___file *bprm = (void *)number;
	struct path *path = (void *)number;
	u64 from = to->context + arg->offset;

	switch (arg->type) {
	case POLICY_FD:
		return fetch_file(to, at, file_of((s32)number));
	case POLICY_FILE:
		return fetch_file(to, at, (struct file *)number);
	case POLICY_BINPRM:
		return fetch_file(to, at, BPF_CORE_READ(bprm, file));
	case POLICY_PATH:
		return fetch_path(to, at, BPF_CORE_READ(path, mnt), BPF_CORE_READ(path, dentry));
	case POLICY_USER_TEXT:
		return text_len(bpf_probe_read_user_str(&to->data[at], PATH_MAX_BYTES, (void *)number));
	case POLICY_USER_BYTES:
		return fetch_bytes(to, at, number, buffer_size(to, arg));
	case POLICY_KERNEL_POINTER:
		return text_len(bpf_probe_read_kernel_str(&to->data[at], PATH_MAX_BYTES, (void *)number));
	case POLICY_DATA_LOC:
		from = to->context + (number & 0xffff);
		/* fall through */
	case POLICY_KERNEL_TEXT:
		return text_len(bpf_probe_read_kernel_str(&to->data[at], PATH_MAX_BYTES, (void *)from));
	default:
		return 0;
	}
}

/* Reads one argument, or the path of the executable, once for each rule. */
__attribute__((noinline)) int policy_fetch(u32 slot)
{
	struct policy_scratch *scratch = policy_scratch();
	struct policy_part *part = scratch ? policy_part(scratch) : 0;
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	u32 at, len;
	u64 number = 0;

	if (!part || slot >= POLICY_SLOTS || (scratch->fetched & (1u << slot)))
		return 0;
	scratch->fetched |= 1u << slot;
	at = scratch->used;
	asm volatile("" : "+r"(at));
	if (at > POLICY_DATA_BYTES - PATH_MAX_BYTES)
		return 0;
	if (slot == POLICY_BINARY_SLOT) {
		struct mm_struct___exe *mm = (void *)BPF_CORE_READ(task, mm);

		len = fetch_file(scratch, at, BPF_CORE_READ(mm, exe_file));
	} else {
		struct policy_arg *arg = &part->args[slot];

		number = fetch_number(scratch->context + arg->offset, arg->size, arg->is_signed);
		len = fetch_text(scratch, at, arg, number);
	}
	scratch->slots[slot].number = number;
	scratch->slots[slot].at = at;
	scratch->slots[slot].len = len;
	scratch->used = at + len;
	return 0;
}

static __always_inline bool number_fits(struct policy_match *match, struct policy_value *value, u64 number, u32 is_signed)
{
	u64 first = value->words[0], second = value->words[1];

	switch (match->op) {
	case POLICY_EQUAL: return number == first;
	case POLICY_ABOVE: return is_signed ? (s64)number > (s64)first : number > first;
	case POLICY_BELOW: return is_signed ? (s64)number < (s64)first : number < first;
	case POLICY_MASK: return (number & first) != 0;
	case POLICY_RANGE:
		return is_signed ? (s64)number >= (s64)first && (s64)number <= (s64)second :
				   number >= first && number <= second;
	default: return false;
	}
}

/* Of a buffer that is not kept whole the end is read where it is; 0 when it is kept. */
static __always_inline u64 end_of(struct policy_scratch *scratch, struct policy_arg *arg, struct policy_argument *text)
{
	u64 size = arg->type == POLICY_USER_BYTES ? buffer_size(scratch, arg) : 0;

	return size > text->len ? text->number + size : 0;
}

static __always_inline bool text_fits(struct policy_scratch *scratch, u32 op, struct policy_argument *text,
				      struct policy_value *value, u64 end)
{
	u32 len = value->len, start = text->at;

	if (text->len < len || (op == POLICY_EQUAL && text->len != len))
		return false;
	if (op == POLICY_POSTFIX)
		start += text->len - len;
	for (u32 i = 0; i < POLICY_TEXT_WORDS; i++)
		scratch->probe[i] = 0;
	asm volatile("" : "+r"(len), "+r"(start));
	if (len == 0 || len > POLICY_TEXT_BYTES || start > POLICY_DATA_BYTES)
		return false;
	if (op == POLICY_POSTFIX && end ? bpf_probe_read_user(scratch->probe, len, (void *)(end - len)) :
					  bpf_probe_read_kernel(scratch->probe, len, &scratch->data[start]))
		return false;
	for (u32 i = 0; i < POLICY_TEXT_WORDS; i++) {
		if (i * 8 >= len)
			break;
		if (scratch->probe[i] != value->words[i])
			return false;
	}
	return true;
}

/* Whether one value of one filter fits. */
__attribute__((noinline)) int policy_value_fits(u32 which, u32 number)
{
	struct policy_scratch *scratch = policy_scratch();
	struct policy_part *part = scratch ? policy_part(scratch) : 0;
	struct policy_match *match;
	u64 end = 0;
	u32 slot;

	if (!part || which > POLICY_MATCHES_MAX || number >= POLICY_MATCH_VALUES_MAX)
		return 0;
	match = &part->matches[which];
	slot = match->slot;
	if (slot >= POLICY_SLOTS)
		return 0;
	if (slot != POLICY_BINARY_SLOT && part->args[slot].type == POLICY_NUMBER)
		return number_fits(match, &match->values[number], scratch->slots[slot].number,
				   part->args[slot].is_signed);
	if (slot != POLICY_BINARY_SLOT && match->op == POLICY_POSTFIX)
		end = end_of(scratch, &part->args[slot], &scratch->slots[slot]);
	return text_fits(scratch, match->op, &scratch->slots[slot], &match->values[number], end);
}

/* Whether one filter fits: any of its values, or none of them. */
__attribute__((noinline)) int policy_match_fits(u32 which)
{
	struct policy_scratch *scratch = policy_scratch();
	struct policy_part *part = scratch ? policy_part(scratch) : 0;
	u32 any = 0, count, is_not;

	if (!part || which > POLICY_MATCHES_MAX)
		return 0;
	count = part->matches[which].count;
	is_not = part->matches[which].is_not;
	policy_fetch(part->matches[which].slot);
	for (u32 i = 0; i < POLICY_MATCH_VALUES_MAX; i++) {
		if (i >= count || any)
			break;
		any = policy_value_fits(which, i) != 0;
	}
	return any != (is_not != 0);
}

static __always_inline u32 own_pid(struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	struct pid *pid = BPF_CORE_READ(leader, thread_pid);
	u64 level = BPF_CORE_READ(pid, level);
	u32 number = 0;

	bpf_probe_read_kernel(&number, sizeof(number),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
				      level * bpf_core_type_size(struct upid));
	return number;
}

/* Who the task is: its number, its namespaces and what it is allowed. */
__attribute__((noinline)) int policy_task_fits(void)
{
	struct policy_scratch *scratch = policy_scratch();
	struct policy_part *part = scratch ? policy_part(scratch) : 0;
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	const struct cred *cred = BPF_CORE_READ(task, cred);
	u32 ns[NS_KINDS] = {};

	if (!part)
		return 0;
	if (part->pids_count > 0) {
		u32 pid = part->pids_in_namespace ? own_pid(task) : bpf_get_current_pid_tgid() >> 32, any = 0;

		for (u32 i = 0; i < POLICY_PIDS_MAX; i++)
			if (i < part->pids_count && part->pids[i] == pid)
				any = 1;
		if (any == (part->pids_is_not != 0))
			return 0;
	}
	for (u32 i = 0; i < POLICY_CAPS_MAX; i++) {
		struct policy_caps *caps = &part->caps[i];
		u64 has = 0;

		if (i >= part->caps_count)
			break;
		if (caps->set == POLICY_EFFECTIVE)
			bpf_probe_read_kernel(&has, sizeof(has), &cred->cap_effective);
		else if (caps->set == POLICY_PERMITTED)
			bpf_probe_read_kernel(&has, sizeof(has), &cred->cap_permitted);
		else
			bpf_probe_read_kernel(&has, sizeof(has), &cred->cap_inheritable);
		if (((has & caps->mask) != 0) == (caps->is_not != 0))
			return 0;
	}
	if (part->namespaces_count == 0)
		return 1;
	fill_namespaces(ns, task, cred);
	for (u32 i = 0; i < NS_KINDS; i++) {
		struct policy_namespaces *wanted = &part->namespaces[i];
		u32 kind = wanted->kind, any = 0;

		if (i >= part->namespaces_count)
			break;
		if (kind >= NS_KINDS)
			return 0;
		for (u32 v = 0; v < POLICY_VALUES_MAX; v++)
			if (v < wanted->count && wanted->values[v] == ns[kind])
				any = 1;
		if (any == (wanted->is_not != 0))
			return 0;
	}
	return 1;
}

/* Tells the match, with every argument of the rule. */
__attribute__((noinline)) int policy_tell(void)
{
	struct policy_scratch *scratch = policy_scratch();
	struct policy_part *part = scratch ? policy_part(scratch) : 0;
	struct event_policy *event;
	u32 used;

	if (!part)
		return 0;
	event = &scratch->event;
	for (u32 i = 0; i < POLICY_ARGS_MAX; i++) {
		if (i < part->args_count)
			policy_fetch(i);
		event->args[i] = scratch->slots[i];
	}
	fill_head(&event->head, EVENT_POLICY);
	event->rule = part->rule;
	event->signal = part->signal;
	event->refusal = part->refusal;
	event->monitors = part->monitors;
	event->args_count = part->args_count;
	used = scratch->used;
	asm volatile("" : "+r"(used));
	if (used <= POLICY_DATA_BYTES)
		put(event, sizeof(*event) + used);
	return 0;
}

/* Acts on a match, before anything else is done: the task goes on while it is told. */
__attribute__((noinline)) int policy_act(void)
{
	struct policy_scratch *scratch = policy_scratch();
	struct policy_part *part = scratch ? policy_part(scratch) : 0;
	struct policy_stats *stats;
	u32 policy;

	if (!part)
		return 0;
	policy = part->policy;
	stats = bpf_map_lookup_elem(&policy_stats, &policy);
	if (!stats)
		return 0;
	stats->matched += 1;
	if (part->monitors) {
		stats->monitored_signals += part->signal != 0;
		stats->monitored_refusals += part->refusal != 0;
	} else {
		if (part->signal) {
			if (bpf_send_signal(part->signal))
				stats->signals_failed += 1;
			else
				stats->signals += 1;
		}
		if (part->refusal) {
			stats->refusals += 1;
			scratch->refusal = part->refusal;
		}
	}
	if (!part->is_silent)
		policy_tell();
	return 0;
}

/* One selector of one rule. */
__attribute__((noinline)) int policy_judge(u32 ordinal, u32 selector)
{
	struct policy_scratch *scratch = policy_scratch();
	struct policy_part *part;

	if (!scratch)
		return JUDGED_NONE;
	scratch->key.ordinal = ordinal;
	scratch->key.selector = selector;
	part = policy_part(scratch);
	if (!part)
		return JUDGED_NONE;
	if (selector == 0) {
		scratch->fetched = 0;
		scratch->used = 0;
	}
	if (!policy_task_fits())
		return JUDGED_OTHER;
	for (u32 i = 0; i <= POLICY_MATCHES_MAX; i++)
		if (i < part->matches_count && !policy_match_fits(i))
			return JUDGED_OTHER;
	policy_act();
	return JUDGED_FITS;
}

/* The selectors of one rule, until one fits; whether there is such a rule. */
__attribute__((noinline)) int policy_rule(u32 ordinal)
{
	int judged = policy_judge(ordinal, 0);

	if (judged == JUDGED_NONE)
		return 0;
	for (u32 selector = 1; selector < POLICY_SELECTORS_MAX; selector++) {
		if (judged != JUDGED_OTHER)
			break;
		judged = policy_judge(ordinal, selector);
	}
	return 1;
}

/* Every rule at this place; 0, or the negative errno to answer with, in bounds that a kernel can see. Programs that can be
 * preempted need an exchange that is whole, which Linux has since 5.12. */
static __always_inline s64 policy_run(u32 place, void *context, bool can_be_preempted)
{
	struct policy_scratch *scratch;
	u32 zero = 0, *generation;
	s64 refusal;

	if (is_ignored(bpf_get_current_pid_tgid() >> 32))
		return 0;
	scratch = policy_scratch();
	generation = bpf_map_lookup_elem(&policy_generation, &zero);
	if (!scratch || !generation)
		return 0;
	/* Another that comes while one is preempted on this CPU is counted as missed. */
	if (can_be_preempted ? __sync_lock_test_and_set(&scratch->is_busy, 1) : scratch->is_busy) {
		count(COUNT_LOST);
		return 0;
	}
	scratch->is_busy = 1;
	scratch->context = (u64)context;
	scratch->key.generation = *generation;
	scratch->key.place = place;
	scratch->refusal = 0;
	for (u32 ordinal = 0; ordinal < POLICY_RULES_MAX; ordinal++)
		if (!policy_rule(ordinal))
			break;
	refusal = scratch->refusal;
	asm volatile("" : "+r"(refusal) : : "memory");
	scratch->is_busy = 0;
	return refusal >= -ERRNO_MAX && refusal < 0 ? refusal : 0;
}

#endif
