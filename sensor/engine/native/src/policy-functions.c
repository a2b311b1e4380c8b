#include "policy-functions.h"
#include <stdio.h>
#include <string.h>
#include "kernel.h"

/* The ways to hook a function of the kernel, the best first; each program stands for one of them and one function. */
static const struct way {
	const char *names[POLICY_LSM_BPRM_CHECK], *programs[POLICY_LSM_BPRM_CHECK];
	bool can_refuse;
	const char *(*obstacle)(void);
} WAYS[] = {
	{ { "lsm/file_open", "lsm/bprm_check_security" }, { "on_lsm_open", "on_lsm_exec" }, true, kernel_lsm_reason },
	{ { "fmod_ret/security_file_open", "fmod_ret/security_bprm_check" }, { "on_modify_open", "on_modify_exec" }, true,
	  kernel_modify_reason },
	{ { "fentry/security_file_open", "fentry/security_bprm_check" }, { "on_fentry_open", "on_fentry_exec" }, false, 0 },
	{ { "kprobe/security_file_open", "kprobe/security_bprm_check" }, { "on_kprobe_open", "on_kprobe_exec" }, false, 0 },
};

bool policy_refuses(const struct policy_hook *hook)
{
	for (unsigned i = 0; i < hook->parts_count; i++)
		if (hook->parts[i].refusal && !hook->parts[i].monitors)
			return true;
	return false;
}

struct bpf_link *policy_function_attach(const struct policy_hook *hook, const struct alone_source *source,
					bool *can_refuse, char *reason, size_t size)
{
	unsigned which = (hook->place & ((1 << POLICY_PLACE_SHIFT) - 1)) - 1;
	size_t at = 0;

	for (unsigned i = 0; i < sizeof(WAYS) / sizeof(WAYS[0]); i++) {
		const struct way *way = &WAYS[i];
		struct alone_refusal refusal = { .what = way->obstacle ? way->obstacle() : 0 };
		struct bpf_link *link;

		if (policy_refuses(hook) && !way->can_refuse)
			continue;
		*can_refuse = way->can_refuse;
		link = refusal.what ? 0 : alone_attach(source, way->programs[which], &refusal);
		if (link) {
			reason[0] = 0;
			return link;
		}
		if (at < size)
			at += snprintf(reason + at, size - at, "%s%s: %s%s%s", at ? "; " : "", way->names[which], refusal.what,
				       refusal.error ? ": " : "", refusal.error ? strerror(refusal.error) : "");
	}
	return 0;
}
