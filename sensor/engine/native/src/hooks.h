/* Where each program is attached. */
#ifndef HOOKS_H
#define HOOKS_H

#include <stdbool.h>

enum hook_how { HOOK_RAW, HOOK_TRACEPOINT, HOOK_CGROUP, HOOK_ALONE /* loaded by itself */ };

enum hook_need {
	ALWAYS,
	MODULE_CALLS,    /* the kernel has tracepoints of its own for the module calls */
	NO_MODULE_CALLS,
	LSM,             /* the bpf LSM is active, and no hook before it sees every open */
	NO_OPENS,        /* no hook before it sees every open */
};

struct hook {
	const char *name; /* as `disabled_hooks` names it */
	const char *program;
	enum hook_how how;
	const char *event; /* of a tracepoint with its category before it */
	enum hook_need need;
};

/* Ends with one without a program. */
extern const struct hook HOOKS[];

/* Looks at what the kernel has, once, before anything is loaded. */
void hooks_probe(void);
/* Whether the kernel has what it needs. */
bool hook_is_wanted(const struct hook *hook);
/* It is attached: what it sees is not to be told twice. */
void hooks_note(const struct hook *hook);
/* Whether another hook does its work already. */
bool hook_is_covered(const struct hook *hook);
/* What no hook sees on this kernel, as a hook and a reason; 0 after the last. */
const char *hooks_blind_spot(unsigned number, const char **reason);
/* Why one that is not wanted is worth telling, or nothing when another does its work. */
const char *hook_reason(const struct hook *hook);

#endif
