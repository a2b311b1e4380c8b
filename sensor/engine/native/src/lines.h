/* Turns what the ring holds into export lines. */
#ifndef LINES_H
#define LINES_H

#include <stddef.h>
#include "../events.h"
#include "processes.h"

void lines_init(const char *node_name);
/* One record of the ring; what is too short for what it says it is, is left out and counted. What another engine has told
 * is learned from, and not told again. */
void tell_event(const void *record, size_t size);
/* A process that was there before; `time` is when it is told. */
void tell_existing(struct process *process, u64 time);
/* What was lost since it was last told, and how much of that in the kernel. */
void tell_lost(u64 lost, u64 in_kernel, bool with_gap);
/* A line of this kind, open inside its braces, for those who write the rest themselves. */
struct text *line_begin(const char *kind);
void line_end(struct text *to, u64 time);
u64 lines_malformed(void);

#endif
