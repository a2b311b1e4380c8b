/* What began while nobody watched. The kernel counts every fork since it started and numbers them; beside the export stands
 * how far it was when the last engine still told everything, and the next one counts from there, however that one ended:
 * killed, asked to end, or gone with the machine. */
#ifndef UNWATCHED_H
#define UNWATCHED_H

#include <stdbool.h>
#include "../events.h"
#include "json.h"

/* In the page that outlives an engine. */
struct watch_sign {
	u64 magic; /* absent where an older build left the page */
	u64 forks; /* since the machine started, threads among them */
	u64 last_pid; /* the number the kernel gave last, to a process or a thread */
	u64 boot; /* when: since the machine started, and by the calendar */
	u64 wall;
};

enum watch_end { WATCH_NEVER, WATCH_GOES_ON, WATCH_KILLED, WATCH_STOPPED, WATCH_REBOOTED };

/* What began up to now is told. Cheap enough for ten times a second. */
void unwatched_sign(struct watch_sign *sign);
/* The last sign of one that leaves, to be taken before its last moment. */
void unwatched_leave(struct watch_sign *sign);
/* From now on this engine sees. */
void unwatched_attached(void);
/* Counts from the sign of the one before, which told nothing from `from` on (of this start of the machine). */
void unwatched_count(const struct watch_sign *sign, enum watch_end how, u64 from);
/* What the one before counted and could not tell is among what is told from now on. */
void unwatched_owe(u64 losses);
/* At most how many processes began unseen before this engine, and what that one owed; threads that have ended are among them. */
u64 unwatched_begun(void);
/* For how long nobody watched; 0 when somebody did. */
u64 unwatched_ms(void);
/* ,"unwatched":{since, until, how} when nobody watched for a while, or nothing. */
void put_unwatched(struct text *to);

#endif
