/* Every open, also of 32-bit programs and through io_uring, where the kernel lets one of these be attached: the first that
 * can be is, and the calls are then left alone. They see the open before it is done, so one that the LSM refuses as well,
 * and that of a program to run it; not those with O_PATH, which read nothing. Not run on any kernel yet. */
#ifndef OPENS_H
#define OPENS_H

/* Files that no task holds: a file system that lies on another opens it there as well, under a path of its own. */
#define FILE_NOT_COUNTED 0x20000000

static __always_inline void tell_hooked_open(struct file *file)
{
	if (!(BPF_CORE_READ(file, f_mode) & FILE_NOT_COUNTED))
		tell_open(path_scratch(), file);
}

/* What is told stays one task's: another that opens while this one is preempted on its CPU is counted as missed. */
static __always_inline void tell_preempted_open(struct file *file)
{
	struct path_scratch *scratch = path_scratch_at(PATHS_OF_PREEMPTED);

	if (!scratch || BPF_CORE_READ(file, f_mode) & FILE_NOT_COUNTED)
		return;
	if (__sync_lock_test_and_set(&scratch->is_busy, 1)) {
		count(COUNT_LOST);
		return;
	}
	scratch->which = PATHS_OF_PREEMPTED;
	tell_open(scratch, file);
	asm volatile("" ::: "memory");
	scratch->is_busy = 0;
}

SEC("lsm/file_open")
int on_lsm_open(u64 *context)
{
	tell_preempted_open((struct file *)context[0]);
	return 0;
}

SEC("fentry/security_file_open")
int on_fentry_open(u64 *context)
{
	tell_preempted_open((struct file *)context[0]);
	return 0;
}

SEC("kprobe/security_file_open")
int on_kprobe_open(struct pt_regs *context)
{
	tell_hooked_open((struct file *)context->di);
	return 0;
}

#endif
