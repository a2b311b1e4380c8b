#include "hooks.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RAW(program, event) { event, program, HOOK_RAW, 0, event, ALWAYS }
#define OPEN(event) { event, "on_exit_open", HOOK_TRACEPOINT, "syscalls", event, NO_LSM }
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
	{ "lsm/file_open", "on_lsm_open", HOOK_LSM, 0, 0, LSM },
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
	{ "sys_enter_init_module", "on_enter_module", HOOK_TRACEPOINT, "syscalls", "sys_enter_init_module", MODULE_CALLS },
	{ "sys_enter_finit_module", "on_enter_module", HOOK_TRACEPOINT, "syscalls", "sys_enter_finit_module", MODULE_CALLS },
	{ "module_load", "on_module_load", HOOK_RAW, 0, "module_load", MODULE_CALLS },
	{ "sys_enter", "on_any_call", HOOK_RAW, 0, "sys_enter", NO_MODULE_CALLS },
	{ "cgroup_skb/egress", "on_egress", HOOK_CGROUP, 0, 0, ALWAYS },
	{ "cgroup_skb/ingress", "on_ingress", HOOK_CGROUP, 0, 0, ALWAYS },
	{ 0 },
};

static bool has_module_calls, has_lsm, lsm_is_known, lsm_is_attached;

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

/* The first line of a small file; empty when it cannot be read. */
static void read_line(const char *file, char *to, size_t size)
{
	FILE *open = fopen(file, "re");

	to[0] = 0;
	if (open && !fgets(to, size, open))
		to[0] = 0;
	if (open)
		fclose(open);
}

void hooks_probe(void)
{
	char active[256];

	has_module_calls = exists("syscalls/sys_enter_finit_module");
	read_line("/sys/kernel/security/lsm", active, sizeof(active));
	lsm_is_known = active[0] != 0;
	has_lsm = strstr(active, "bpf") != 0;
}

void hooks_note_lsm(void)
{
	lsm_is_attached = true;
}

bool hook_is_covered(const struct hook *hook)
{
	return hook->need == NO_LSM && lsm_is_attached;
}

bool hook_is_wanted(const struct hook *hook)
{
	switch (hook->need) {
	case MODULE_CALLS: return has_module_calls;
	case NO_MODULE_CALLS: return !has_module_calls;
	case LSM: return has_lsm;
	default: return true;
	}
}

const char *hook_reason(const struct hook *hook)
{
	if (hook->need == LSM)
		return lsm_is_known ? "the bpf LSM is not among the active ones" :
				      "securityfs is not mounted: whether the bpf LSM is active is not known";
	/* The calls themselves are seen without their tracepoints; what the kernel makes of them is not. */
	return hook->need == MODULE_CALLS && hook->how == HOOK_RAW ? "the kernel has no modules" : 0;
}

const char *hooks_blind_spot(unsigned number, const char **reason)
{
	char disabled[16];

	if (number == 0) {
		read_line("/proc/sys/kernel/io_uring_disabled", disabled, sizeof(disabled));
		*reason = lsm_is_attached ? "UDP connects and accepts through it are not seen" :
					    "opens, UDP connects and accepts through it are not seen";
		return disabled[0] == '2' ? "" : "io_uring";
	}
	if (number == 1) {
		*reason = "of 32-bit programs only processes, TCP connects, listens and names asked for are seen";
		return access("/proc/sys/abi/vsyscall32", F_OK) == 0 ? "ia32" : "";
	}
	return 0;
}
