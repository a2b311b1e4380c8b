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
	u32 untold; /* losses that no line tells yet; 0 where an older build left the page */
	struct told_event {
		u32 identity;
		union {
			u32 ahead_ns; /* of `until`, once it has ended */
			u32 steps; /* the stamp, in steps of LIVE_STEP_NS, while it runs */
		};
	} events[TOLD_MAX];
};
#define LIVE_STEP_NS 100000ull

/* How far the list of an engine that runs is: a ring, in which number n has place n modulo its length. One that is killed
 * leaves it as it stands, and the length of the export says whether its last lines were written. */
struct told_live {
	u64 written; /* events that are told: `until` and `since` of the list speak of them */
	u64 noted; /* those, and what is being written; the next three speak of both */
	u64 size; /* of the export when that is written */
	u64 until;
	u64 since;
};

/* From now on the events stamped shortly before are listed. */
void told_list_until(u64 time);
/* Lists an event, once its line is put. */
void told_note(const struct event_head *event);
/* Leaves the list to the next one. */
void told_give(struct told *to);
/* Takes over from one that told until then, with its list when there is one that fits. */
void told_take(u64 until, const struct told *list);
/* Takes over from one that was killed, whose export is so long now. */
void told_take_live(const struct told *list, const struct told_live *live, u64 size);
/* From now on what is told is listed there as well, for whoever comes after a kill. */
void told_keep(struct told *list, struct told_live *live);
/* Before all that was told is written to an export that is so long then, and once it is written or counted as lost. */
void told_writing(u64 size);
void told_written(void);
/* Whether the one before has told this. Asked once for each event: two that are alike are two. */
bool told_before(const struct event_head *event);

#endif
