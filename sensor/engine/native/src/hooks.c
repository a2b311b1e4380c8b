#include "hooks.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "kernel.h"
#include "tracefs.h"

#define RAW(program, event) { event, program, HOOK_RAW, event, ALWAYS }
#define OPEN(event) { event, "on_exit_open", HOOK_TRACEPOINT, "syscalls/" event, NO_OPENS }
#define CALL(program, event) { event, program, HOOK_TRACEPOINT, "syscalls/" event, ALWAYS }

const struct hook HOOKS[] = {
	RAW("on_exec", "sched_process_exec"),
	RAW("on_fork", "sched_process_fork"),
	RAW("on_exit", "sched_process_exit"),
	RAW("on_sock_state", "inet_sock_set_state"),
	CALL("on_enter_connect", "sys_enter_connect"),
	CALL("on_exit_connect", "sys_exit_connect"),
	CALL("on_exit_accept", "sys_exit_accept"),
	CALL("on_exit_accept", "sys_exit_accept4"),
	{ "lsm/file_open", "on_lsm_open", HOOK_ALONE, 0, LSM },
	{ "fentry/security_file_open", "on_fentry_open", HOOK_ALONE, 0, NO_OPENS },
	{ "kprobe/security_file_open", "on_kprobe_open", HOOK_ALONE, 0, NO_OPENS },
	OPEN("sys_exit_open"),
	OPEN("sys_exit_openat"),
	OPEN("sys_exit_openat2"),
	OPEN("sys_exit_creat"),
	OPEN("sys_exit_open_by_handle_at"),
	CALL("on_exit_cred", "sys_exit_setuid"),
	CALL("on_exit_cred", "sys_exit_setgid"),
	CALL("on_exit_cred", "sys_exit_setreuid"),
	CALL("on_exit_cred", "sys_exit_setregid"),
	CALL("on_exit_cred", "sys_exit_setresuid"),
	CALL("on_exit_cred", "sys_exit_setresgid"),
	CALL("on_exit_cred", "sys_exit_setfsuid"),
	CALL("on_exit_cred", "sys_exit_setfsgid"),
	CALL("on_exit_cred", "sys_exit_capset"),
	CALL("on_exit_cred", "sys_exit_setns"),
	CALL("on_exit_cred", "sys_exit_unshare"),
	CALL("on_enter_ptrace", "sys_enter_ptrace"),
	CALL("on_enter_bpf", "sys_enter_bpf"),
	{ "sys_enter_init_module", "on_enter_module", HOOK_TRACEPOINT, "syscalls/sys_enter_init_module", MODULE_CALLS },
	{ "sys_enter_finit_module", "on_enter_module", HOOK_TRACEPOINT, "syscalls/sys_enter_finit_module", MODULE_CALLS },
	{ "module_load", "on_module_load", HOOK_RAW, "module_load", MODULE_CALLS },
	{ "sys_enter", "on_any_call", HOOK_RAW, "sys_enter", NO_MODULE_CALLS },
	{ "cgroup_skb/egress", "on_egress", HOOK_CGROUP, 0, ALWAYS },
	{ "cgroup_skb/ingress", "on_ingress", HOOK_CGROUP, 0, ALWAYS },
	{ 0 },
};

static bool has_module_calls, sees_opens;
static const char *lsm_reason;

void hooks_probe(void)
{
	has_module_calls = tracefs_has("syscalls/sys_enter_finit_module");
	lsm_reason = kernel_lsm_reason();
}

void hooks_note(const struct hook *hook)
{
	sees_opens |= hook->how == HOOK_ALONE;
}

bool hook_is_covered(const struct hook *hook)
{
	return sees_opens && (hook->need == NO_OPENS || hook->need == LSM);
}

bool hook_is_wanted(const struct hook *hook)
{
	switch (hook->need) {
	case MODULE_CALLS: return has_module_calls;
	case NO_MODULE_CALLS: return !has_module_calls;
	case LSM: return !lsm_reason;
	default: return true;
	}
}

const char *hook_reason(const struct hook *hook)
{
	if (hook->need == LSM)
		return lsm_reason;
	/* The calls themselves are seen without their tracepoints; what the kernel makes of them is not. */
	return hook->need == MODULE_CALLS && hook->how == HOOK_RAW ? "the kernel has no modules" : 0;
}

const char *hooks_blind_spot(unsigned number, const char **reason)
{
	char disabled[16];

	if (number == 0) {
		kernel_read_line("/proc/sys/kernel/io_uring_disabled", disabled, sizeof(disabled));
		*reason = sees_opens ? "UDP connects and accepts through it are not seen" :
					    "opens, UDP connects and accepts through it are not seen";
		return disabled[0] == '2' ? "" : "io_uring";
	}
	if (number == 1) {
		*reason = sees_opens ?
				  "of 32-bit programs only processes, opens, TCP connects, listens and names asked for are seen" :
				  "of 32-bit programs only processes, TCP connects, listens and names asked for are seen";
		return access("/proc/sys/abi/vsyscall32", F_OK) == 0 ? "ia32" : "";
	}
	return 0;
}
