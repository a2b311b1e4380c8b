/* The programs that carry out policies: an object of its own, loaded only when there is a policy. */
#include "kernel-types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "../policy.h"
#include "common.h"
#include "paths.h"
#include "namespaces.h"
#include "policy.h"

#define PLACE(kind, number) ((kind) << POLICY_PLACE_SHIFT | ((number) & ((1 << POLICY_PLACE_SHIFT) - 1)))

SEC("tp")
int on_policy_enter(struct trace_event_raw_sys_enter *context)
{
	policy_run(PLACE(POLICY_ENTER, (u32)context->id), context, false);
	return 0;
}

SEC("tp")
int on_policy_exit(struct trace_event_raw_sys_exit *context)
{
	policy_run(PLACE(POLICY_EXIT, (u32)context->id), context, false);
	return 0;
}

/* Any other tracepoint: which one is said by the link's cookie. */
SEC("tp")
int on_policy_tracepoint(void *context)
{
	policy_run(PLACE(POLICY_TRACEPOINT, (u32)bpf_get_attach_cookie(context)), context, false);
	return 0;
}

/* Two functions of the kernel, each by the first way it allows: of the LSM, in the function's place, at its entry. Only the
 * first two can answer in the place of the kernel. Not run on any kernel yet. */
#define OPEN PLACE(POLICY_LSM, POLICY_LSM_FILE_OPEN)
#define EXEC PLACE(POLICY_LSM, POLICY_LSM_BPRM_CHECK)

SEC("lsm/file_open")
s64 on_lsm_open(u64 *context) { return policy_run(OPEN, context, true); }

SEC("lsm/bprm_check_security")
s64 on_lsm_exec(u64 *context) { return policy_run(EXEC, context, true); }

SEC("fmod_ret/security_file_open")
s64 on_modify_open(u64 *context) { return policy_run(OPEN, context, true); }

SEC("fmod_ret/security_bprm_check")
s64 on_modify_exec(u64 *context) { return policy_run(EXEC, context, true); }

SEC("fentry/security_file_open")
int on_fentry_open(u64 *context)
{
	policy_run(OPEN, context, true);
	return 0;
}

SEC("fentry/security_bprm_check")
int on_fentry_exec(u64 *context)
{
	policy_run(EXEC, context, true);
	return 0;
}

/* The argument stands where the others have it. */
SEC("kprobe/security_file_open")
int on_kprobe_open(struct pt_regs *context)
{
	u64 args[] = { context->di };

	policy_run(OPEN, args, false);
	return 0;
}

SEC("kprobe/security_bprm_check")
int on_kprobe_exec(struct pt_regs *context)
{
	u64 args[] = { context->di };

	policy_run(EXEC, args, false);
	return 0;
}

/* The texts begin right behind the fixed part. */
_Static_assert(sizeof(struct event_policy) == __builtin_offsetof(struct event_policy, data), "policy");
_Static_assert(__builtin_offsetof(struct policy_scratch, data) ==
		       __builtin_offsetof(struct policy_scratch, event) + sizeof(struct event_policy), "scratch");

char policy_license[] SEC("license") = "Dual BSD/GPL";
