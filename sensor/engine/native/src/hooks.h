/* Where each program is attached. */
#ifndef HOOKS_H
#define HOOKS_H

#include <stdbool.h>

enum hook_how { HOOK_RAW, HOOK_TRACEPOINT, HOOK_CGROUP };

enum hook_need {
	ALWAYS,
	MODULE_CALLS,    /* the kernel has tracepoints of its own for the module calls */
	NO_MODULE_CALLS,
};

struct hook {
	const char *name; /* as `disabled_hooks` names it */
	const char *program;
	enum hook_how how;
	const char *category;
	const char *event;
	enum hook_need need;
};

/* Ends with one without a program. */
extern const struct hook HOOKS[];

/* Looks at what the kernel has, once, before anything is loaded. */
void hooks_probe(void);
bool hook_is_wanted(const struct hook *hook);
/* Why one that is not wanted is worth telling, or nothing when another does its work. */
const char *hook_reason(const struct hook *hook);

#endif
