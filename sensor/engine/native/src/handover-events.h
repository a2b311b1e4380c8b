/* What the engine that leaves has told last, event by event, so that the next one tells neither of them again nor leaves
 * one out. Each engine stamps the same event with a time of its own, a little later than the other or, when the processor
 * was taken away in between, much later: a time alone cannot say who has told what happened around it. */
#ifndef HANDOVER_EVENTS_H
#define HANDOVER_EVENTS_H

#include <stdbool.h>
#include "../events.h"

#define TOLD_MAX 490
/* How far apart the two stamps of one event may be. */
#define TOLD_APART_NS 10000000ull

/* In the page that both engines share; what another build left there, or nobody, does not name the time it ended at. */
struct told {
	u64 until; /* everything stamped earlier is told */
	u64 since; /* what is stamped from then on is listed */
	u32 count;
	u32 pad;
	struct told_event {
		u32 identity;
		u32 ahead_ns; /* of `until` */
	} events[TOLD_MAX];
};

/* From now on the events stamped shortly before are listed. */
void told_list_until(u64 time);
/* Lists an event that is told. Costs a look while nothing is to be listed. */
void told_note(const struct event_head *event);
/* Leaves the list to the next one. */
void told_give(struct told *to);
/* Takes over from one that told until then, with its list when there is one that fits. */
void told_take(u64 until, const struct told *list);
/* Whether the one before has told this. Asked once for each event: two that are alike are two. */
bool told_before(const struct event_head *event);

#endif
