/* Hooks of a policy that are functions of the kernel, by whichever way the kernel allows. */
#ifndef POLICY_FUNCTIONS_H
#define POLICY_FUNCTIONS_H

#include "optional-programs.h"
#include "policy-file.h"

/* Whether it is to answer in the place of the kernel. */
bool policy_refuses(const struct policy_hook *hook);
/* By the first way that the kernel allows and that can do what the hook is to do, and whether it can refuse; or nothing, and
 * a reason that names each that was in vain. */
struct bpf_link *policy_function_attach(const struct policy_hook *hook, const struct alone_source *source,
					bool *can_refuse, char *reason, size_t size);

#endif
