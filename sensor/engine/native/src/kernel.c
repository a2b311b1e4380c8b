#include "kernel.h"
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NR_LSM_LIST_MODULES 461 /* since Linux 6.8; before, only securityfs tells */
#define LSM_ID_BPF 109
#define LSMS_MAX 64

void kernel_read_line(const char *file, char *to, int size)
{
	FILE *open = fopen(file, "re");

	to[0] = 0;
	if (open && !fgets(to, size, open))
		to[0] = 0;
	if (open)
		fclose(open);
}

enum lsm_state kernel_bpf_lsm(void)
{
	uint64_t ids[LSMS_MAX];
	uint32_t size = sizeof(ids);
	long count = syscall(NR_LSM_LIST_MODULES, ids, &size, 0);
	char active[256];

	for (long i = 0; i < count; i++)
		if (ids[i] == LSM_ID_BPF)
			return LSM_ON;
	if (count >= 0)
		return LSM_OFF;
	kernel_read_line("/sys/kernel/security/lsm", active, sizeof(active));
	if (!active[0])
		return LSM_UNKNOWN;
	return strstr(active, "bpf") ? LSM_ON : LSM_OFF;
}

const char *kernel_lsm_reason(void)
{
	switch (kernel_bpf_lsm()) {
	case LSM_ON: return 0;
	case LSM_OFF: return "the bpf LSM is not among the active ones";
	default: return "securityfs is not mounted: whether the bpf LSM is active is not known";
	}
}

/* The verifier of a PREEMPT_RT kernel refuses it. `PREEMPT_RT` stands in the kernel's description, older ones spell it `PREEMPT RT` or `PREEMPT_RT_FULL`. */
const char *kernel_modify_reason(void)
{
	static const char *const words[] = { "PREEMPT_RT_FULL", "PREEMPT_RT", "PREEMPT RT" };
	char version[512];

	kernel_read_line("/proc/version", version, sizeof(version));
	for (int i = 0; i < 3; i++) {
		const char *at = strstr(version, words[i]);
		char after = at ? at[strlen(words[i])] : '_';

		if (at && !isalnum((unsigned char)after) && after != '_')
			return "it stays off on a PREEMPT_RT kernel (BPF_MODIFY_RETURN)";
	}
	return 0;
}
