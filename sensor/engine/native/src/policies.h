/* The policies in force: read from a file, carried out by programs in the kernel. A new set is complete in the kernel
 * before the one before it stops acting, so that there is no moment without either. */
#ifndef POLICIES_H
#define POLICIES_H

#include <stddef.h>
#include "json.h"
#include "policy-file.h"

/* Where the file is; nothing happens yet. Asked once, after the programs have started. */
void policies_init(const char *file);
/* Reads the file and puts what it holds in the place of what was in force. What cannot be carried out is refused by itself,
 * and its version before stays. */
void policies_reload(void);
/* The hook a rule belongs to, also one of the set before; nothing for one that is not known. */
const struct policy_hook *policies_rule(u32 rule, const struct policy **policy);
/* What became of each policy, a line for each, and one at the end; nothing when no file was given. */
void policies_tell(struct text *(*begin)(void), void (*say)(struct text *to, char *start));
/* Detaches a hook that no policy asks for any more; asked again and again, between batches of the ring. */
void policies_tidy(void);
/* Nothing new is told; what is in force stays so until the process ends. */
void policies_stop(u64 when);
/* Events that no program judged. */
u64 policies_missed(void);

#endif
