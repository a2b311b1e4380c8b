/* Which process an event speaks of; a process that was not seen to begin is asked of /proc, and what /proc has forgotten
 * stays with what the event itself says. */
#ifndef PROCESS_IDENTITY_H
#define PROCESS_IDENTITY_H

#include "processes.h"

struct process *who(const struct event_head *head);
/* The process an exec made, and what it was allowed before it, when that is known. */
struct process *who_executed(const struct event_exec *event, struct creds *before, bool *known);
void who_forked(const struct event_fork *event);

#endif
