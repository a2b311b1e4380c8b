/* Where policies are attached: found by name, attached once however many policies ask, detached when none does. */
#ifndef POLICY_HOOKS_H
#define POLICY_HOOKS_H

#include "policy-file.h"

struct policy_bpf;

/* Loads the programs once, as many kinds as the kernel takes. The object, or nothing and a reason. */
struct policy_bpf *policy_programs(char *reason, size_t size);
/* Completes a hook's place and arguments by the kernel's own description and attaches it. 0, or -1 and a reason. */
int policy_hook_attach(struct policy_hook *hook, unsigned generation, char *reason, size_t size);
/* That a hook attached before is used by this generation too. */
void policy_hook_keep(const struct policy_hook *hook, unsigned generation);
/* Detaches one that this generation does not use: each takes the kernel a tenth of a second. */
void policy_hooks_sweep(unsigned generation);

#endif
