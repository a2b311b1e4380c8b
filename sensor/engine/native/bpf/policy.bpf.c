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
	policy_run(PLACE(POLICY_ENTER, (u32)context->id), context);
	return 0;
}

SEC("tp")
int on_policy_exit(struct trace_event_raw_sys_exit *context)
{
	policy_run(PLACE(POLICY_EXIT, (u32)context->id), context);
	return 0;
}

/* Any other tracepoint: which one is said by the link's cookie. */
SEC("tp")
int on_policy_tracepoint(void *context)
{
	policy_run(PLACE(POLICY_TRACEPOINT, (u32)bpf_get_attach_cookie(context)), context);
	return 0;
}

/* Where the bpf LSM is active. Not run on any kernel yet. */
SEC("lsm/file_open")
int on_policy_file_open(u64 *context)
{
	return policy_run(PLACE(POLICY_LSM, POLICY_LSM_FILE_OPEN), context);
}

SEC("lsm/bprm_check_security")
int on_policy_bprm_check(u64 *context)
{
	return policy_run(PLACE(POLICY_LSM, POLICY_LSM_BPRM_CHECK), context);
}

/* The texts begin right behind the fixed part. */
_Static_assert(sizeof(struct event_policy) == __builtin_offsetof(struct event_policy, data), "policy");
_Static_assert(__builtin_offsetof(struct policy_scratch, data) ==
		       __builtin_offsetof(struct policy_scratch, event) + sizeof(struct event_policy), "scratch");

char policy_license[] SEC("license") = "Dual BSD/GPL";
