#include "hooks.h"
#include <stdio.h>
#include <unistd.h>

#define RAW(program, event) { event, program, HOOK_RAW, 0, event, ALWAYS }
#define CALL(program, event) { event, program, HOOK_TRACEPOINT, "syscalls", event, ALWAYS }

const struct hook HOOKS[] = {
	RAW("on_exec", "sched_process_exec"),
	RAW("on_fork", "sched_process_fork"),
	RAW("on_exit", "sched_process_exit"),
	RAW("on_sock_state", "inet_sock_set_state"),
	CALL("on_enter_connect", "sys_enter_connect"),
	CALL("on_exit_connect", "sys_exit_connect"),
	CALL("on_exit_accept", "sys_exit_accept"),
	CALL("on_exit_accept", "sys_exit_accept4"),
	CALL("on_exit_open", "sys_exit_open"),
	CALL("on_exit_open", "sys_exit_openat"),
	CALL("on_exit_open", "sys_exit_openat2"),
	CALL("on_exit_open", "sys_exit_creat"),
	CALL("on_exit_open", "sys_exit_open_by_handle_at"),
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
	{ "sys_enter_init_module", "on_enter_module", HOOK_TRACEPOINT, "syscalls", "sys_enter_init_module", MODULE_CALLS },
	{ "sys_enter_finit_module", "on_enter_module", HOOK_TRACEPOINT, "syscalls", "sys_enter_finit_module", MODULE_CALLS },
	{ "sys_enter", "on_any_call", HOOK_RAW, 0, "sys_enter", NO_MODULE_CALLS },
	{ "cgroup_skb/egress", "on_egress", HOOK_CGROUP, 0, 0, ALWAYS },
	{ "cgroup_skb/ingress", "on_ingress", HOOK_CGROUP, 0, 0, ALWAYS },
	{ 0 },
};

static bool has_module_calls;

static bool exists(const char *event)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char file[256];

	for (int i = 0; i < 2; i++) {
		snprintf(file, sizeof(file), "%s/events/%s/id", roots[i], event);
		if (access(file, R_OK) == 0)
			return true;
	}
	return false;
}

void hooks_probe(void)
{
	has_module_calls = exists("syscalls/sys_enter_finit_module");
}

bool hook_is_wanted(const struct hook *hook)
{
	return hook->need == ALWAYS || has_module_calls == (hook->need == MODULE_CALLS);
}

const char *hook_reason(const struct hook *hook)
{
	(void)hook;
	return 0;
}
